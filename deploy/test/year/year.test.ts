import { expect, test } from 'vitest'
import { Year } from './year.ts'

/* Some weeks around the end of a leap February. `npm run test:year` runs a whole year. */

const isWhole = process.env['TOLLGATE_TEST_YEAR'] === 'whole'

function option(variable: string, short: number, whole: number): number {
  const text = process.env[`TOLLGATE_TEST_YEAR_${variable}`]
  const given = text === undefined ? undefined : Number(text)
  if (given !== undefined && !(given >= 0)) throw new Error(`${variable} must be a number`)
  return given ?? (isWhole ? whole : short)
}

// The short run always plays the same weeks, and each run of the whole year plays another one.
const seed = option('SEED', 14, Date.now() % 1_000_000)
const options = {
  seed,
  customers: option('CUSTOMERS', 8, 200),
  days: option('DAYS', 36, 366),
  // In some weeks, few customers would buy anything at the rate of the whole year.
  actsPercent: option('ACTS_PERCENT', 40, 12),
  killsPercent: option('KILLS_PERCENT', 3, 3),
  startsAt: isWhole ? '2027-09-15T00:00:00Z' : '2028-01-30T00:00:00Z',
}

test(`${options.days} days of billing, seed ${seed}`, { timeout: 14_400_000 }, async () => {
  const print = (line: string): void => {
    if (isWhole) console.log(line)
  }
  const figures = await Year.run({ ...options, print })
  print(`seed ${seed}: ${JSON.stringify(figures)}`)
  const missing = Object.keys(figures.happened).filter((name) => figures.happened[name] === 0)
  if (isWhole) expect(missing).toEqual([])
})
