/** Numbers of the overview by day. Revenue is shown for one currency at a time. */
export const dayNumbers = {
  events: 'Events',
  activeCustomers: 'Active customers',
  revenue: 'Revenue',
  creditsSold: 'Credits sold',
  creditsUsed: 'Credits used',
} as const

export type DayNumber = keyof typeof dayNumbers

/** The query of Home's address: the number that is shown by day. */
export type HomeSearch = { readonly number?: DayNumber }

export function homeSearch(given: Record<string, unknown>): HomeSearch {
  const number = (Object.keys(dayNumbers) as DayNumber[]).find((each) => each === given['number'])
  return number === undefined ? {} : { number }
}
