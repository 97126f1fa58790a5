/** A typed amount, with a point or a comma; undefined where it is none. */
export function majorOf(text: string): number | undefined {
  return /^\d{1,9}([.,]\d{1,2})?$/.test(text) ? Number(text.replace(',', '.')) : undefined
}
