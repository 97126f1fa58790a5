/** A year of 365 days that is far enough ahead of real time for a clock to begin with it. */
export const clockYear = nextCommonYear(new Date(Date.now() + 40 * 86_400_000).getUTCFullYear() + 1)

function nextCommonYear(year: number): number {
  return year % 4 === 0 ? year + 1 : year
}
