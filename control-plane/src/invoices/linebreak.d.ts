/** Finds the positions where lines may be broken, by the Unicode rules (UAX 14). The package has no types of its own. */
declare module 'linebreak' {
  export default class LineBreaker {
    constructor(text: string)
    /** Returns the next break, or null at the end. A line may begin before the character at the index `position`. */
    nextBreak(): { readonly position: number; readonly required: boolean } | null
  }
}
