/** A year of 365 days that is far enough ahead of real time for a clock to begin with it. */
export const clockYear = nextCommonYear(new Date(Date.now() + 40 * 86_400_000).getUTCFullYear() + 1)

/** Returns a time in `clockYear`. `monthAndDay`: `MM-DD`. `time`: `hh:mm:ss`, in UTC. */
export function clockTime(monthAndDay: string, time = '00:00:00'): string {
  return `${clockYear}-${monthAndDay}T${time}.000Z`
}

function nextCommonYear(year: number): number {
  return year % 4 === 0 ? year + 1 : year
}
