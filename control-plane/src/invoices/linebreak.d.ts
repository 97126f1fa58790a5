/** Where lines may be broken, by Unicode's rules (UAX 14). The package has no types of its own. */
declare module 'linebreak' {
  export default class LineBreaker {
    constructor(text: string)
    /** `position` is the index in the text before which a line may begin. */
    nextBreak(): { readonly position: number; readonly required: boolean } | null
  }
}
