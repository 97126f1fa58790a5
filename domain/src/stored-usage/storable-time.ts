/** Limits a time in Unix milliseconds to the range of the store's time type. All usage is well within that range: 1970 to 2200. */
export function storableMs(unixMs: number): number {
  return Math.min(Math.max(unixMs, 0), 7_258_118_400_000)
}
