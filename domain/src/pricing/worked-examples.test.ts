import { describe, expect, test } from 'vitest'
import type { PlanTerms, PlanType } from '../plans/plan.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { periodOf } from '../periods/periods.ts'
import {
  carriedInLines,
  lateUsageLines,
  oneTimeLines,
  prorationLines,
  recurringLines,
  usageLines,
  type PeriodUsage,
} from './charges.ts'
import { decideDue } from './decide-due.ts'
import { totalOf } from './invoice-line.ts'
import { pricesIn } from './plan-prices.ts'
import { rolledOverMicros } from './roll-over.ts'
import { splitCharges } from './split-charges.ts'
import { trialEnd } from './trial.ts'

/* The worked examples of the wire contract, exact to the cent. */

const period = { start: new Date('2026-06-01T00:00:00Z'), end: new Date('2026-07-01T00:00:00Z') }
const dollar = { currency: 'USD', unitsPerDollar: '1' }

function plan(
  type: PlanType,
  terms: PlanTerms,
  prices: Partial<Pick<PlanSnapshot, 'priceMinor' | 'basePriceMinor' | 'setupFeeMinor'>> = {},
): PlanSnapshot {
  return {
    reference: 'pln_1',
    name: 'Pro',
    type,
    priceMinor: 0,
    basePriceMinor: null,
    setupFeeMinor: null,
    currency: 'USD',
    meterRef: 'mtr_1',
    terms,
    ...prices,
  }
}

const units = (count: number | string): bigint => BigInt(Math.round(Number(count) * 1e6))

function used(count: number, carriedOver = 0): PeriodUsage {
  return {
    period,
    usedMicros: units(count),
    carriedOverMicros: units(carriedOver),
    reading: {
      meterName: 'requests',
      watermark: '2026-07-01T00:05:00.000Z',
      nextOffsets: { '0': '17' },
    },
  }
}

const usageCents = (of: PlanSnapshot, count: number, carriedOver = 0): bigint =>
  totalOf(usageLines(of, dollar, used(count, carriedOver)))

const postPaid = (terms: PlanTerms): PlanSnapshot =>
  plan('usage-based', { billingModel: 'post-paid', ...terms })

describe('a usage-based, post-paid plan', () => {
  const perUnit = postPaid({ creditsPerUnit: 100, freeUnits: 100, limit: 10_000 })

  test.each([
    ['A: free units', 5_250, 5_150n],
    ['B: usage above the cap', 12_000, 9_900n],
    ['C: usage below the free units', 80, 0n],
    ['exactly the free units', 100, 0n],
    ['exactly the cap', 10_000, 9_900n],
  ])('%s', (_, count, cents) => {
    expect(usageCents(perUnit, count)).toBe(cents)
  })

  test('D: rounds 113.4 cents to 113', () => {
    const cheap = postPaid({ creditsPerUnit: 10, freeUnits: 100, limit: 10_000 })
    const [line] = usageLines(cheap, dollar, used(1_234))
    expect(line).toMatchObject({ amountMinor: 113n })
    expect(line!.residualNumerator * 10n).toBe(4n * line!.exact.denominator)
  })

  test('rounds half a cent up to 1 cent', () => {
    expect(usageCents(postPaid({ creditsPerUnit: 50 }), 1)).toBe(1n)
    expect(usageCents(postPaid({ creditsPerUnit: 49 }), 1)).toBe(0n)
  })

  test('treats a limit of 0 as no limit', () => {
    expect(usageCents(postPaid({ creditsPerUnit: 100, limit: 0 }), 1_000_000)).toBe(1_000_000n)
  })

  test('does not invoice usage that the wallet paid for', () => {
    const prePaid = plan('usage-based', { billingModel: 'pre-paid', creditsPerUnit: 100 })
    expect(usageLines(prePaid, dollar, used(100))).toEqual([])
  })
})

const examplesTiers = [
  { minUsage: 0, maxUsage: 500, creditsPerUnit: 50 },
  { minUsage: 501, maxUsage: 2_000, creditsPerUnit: 30 },
  { minUsage: 2_001, creditsPerUnit: 10 },
]

function hybrid(terms: PlanTerms): PlanSnapshot {
  return plan('hybrid', { limit: 1_000, ...terms }, { basePriceMinor: 4_900 })
}

describe('a hybrid plan', () => {
  const overage = { allowOverage: true, overageRate: 80, maxOverage: 5_000 }

  test('E: uses tiers instead of the overage rate, counted from the first priced unit', () => {
    const tiered = hybrid({
      usageTiers: examplesTiers,
      overagePolicy: { allowOverage: true, overageRate: 80 },
    })
    expect(usageCents(tiered, 3_500)).toBe(750n)
    const base = recurringLines(tiered, 'USD', period, false)
    expect(totalOf(base) + usageCents(tiered, 3_500)).toBe(5_650n)
  })

  test('E with the rates of the second example: charges 7,500 credits', () => {
    const rates = [5, 3, 1]
    const tiered = hybrid({
      usageTiers: examplesTiers.map((tier, at) => ({ ...tier, creditsPerUnit: rates[at]! })),
      overagePolicy: { allowOverage: true, overageRate: 8 },
    })
    expect(usageCents(tiered, 3_500)).toBe(75n)
  })

  test.each([
    ['F: the overage rate', 3_500, 2_000n],
    ['G: at most the maximum overage', 7_500, 4_000n],
    ['no usage above the included units', 1_000, 0n],
  ])('%s', (_, count, cents) => {
    expect(usageCents(hybrid({ overagePolicy: overage }), count)).toBe(cents)
  })

  test('H: caps usage at the limit if the plan has no overage', () => {
    const capped = hybrid({ freeUnits: 200, creditsPerUnit: 50 })
    expect(usageCents(capped, 1_000)).toBe(400n)
    expect(totalOf(recurringLines(capped, 'USD', period, false)) + 400n).toBe(5_300n)
  })

  test('has the same total with every billing strategy', () => {
    const tiered = hybrid({ usageTiers: examplesTiers, overagePolicy: overage })
    const charges = {
      recurring: recurringLines(tiered, 'USD', period, false),
      usage: usageLines(tiered, dollar, used(3_500)),
    }
    const split = (strategy: Parameters<typeof splitCharges>[1]) =>
      splitCharges(charges, strategy).map(({ lines }) => totalOf(lines))
    expect(split('recurring_first')).toEqual([4_900n, 750n])
    expect(split('usage_first')).toEqual([750n, 4_900n])
    expect(split('combined')).toEqual([5_650n])
    expect(split(undefined)).toEqual([4_900n, 750n])
    expect(splitCharges({ recurring: [], usage: [] })).toEqual([])
  })
})

describe('tiers', () => {
  const tiered = (terms: PlanTerms) => postPaid({ usageTiers: examplesTiers, ...terms })

  test.each([
    [500, 250n],
    [501, 250n],
    [2_000, 700n],
    [2_001, 700n],
    [12_000, 1_700n],
  ])('graduated, %i units: %i cents', (count, cents) => {
    expect(usageCents(tiered({}), count)).toBe(cents)
  })

  test.each([
    [500, 250n],
    [501, 150n],
    [2_000, 600n],
    [2_001, 200n],
  ])('volume, %i units: %i cents', (count, cents) => {
    expect(usageCents(tiered({ usageTierMode: 'volume' }), count)).toBe(cents)
  })

  test.each([
    [0, 0n],
    [1, 10n],
    [100, 10n],
    [100.000001, 20n],
    [250, 30n],
  ])('packages of 100 at 10 cents, %d units: %i cents', (count, cents) => {
    expect(usageCents(postPaid({ creditsPerUnit: 10, unitsPerPackage: 100 }), count)).toBe(cents)
  })

  test('counts whole packages into tiers', () => {
    // 450 units are 500 in packages of 100, all in the first tier. 501 units are 600.
    const packaged = tiered({ unitsPerPackage: 100 })
    expect(usageCents(packaged, 450)).toBe(250n)
    expect(usageCents(packaged, 501)).toBe(280n)
  })

  test('counts fractions of a credit to the sixth decimal', () => {
    const fine = postPaid({ usageTiers: [{ minUsage: 0, creditsPerUnit: 0.000001 }] })
    expect(usageCents(fine, 49_999_999)).toBe(0n)
    expect(usageCents(fine, 50_000_000)).toBe(1n)
  })
})

describe('other pricing rules', () => {
  const pro = plan('recurring', {}, { priceMinor: 1_900, setupFeeMinor: 500 })

  test('charge the set-up fee with the first charge only', () => {
    expect(totalOf(recurringLines(pro, 'USD', period, true))).toBe(2_400n)
    expect(totalOf(recurringLines(pro, 'USD', period, false))).toBe(1_900n)
  })

  test('omit lines of 0', () => {
    expect(recurringLines(plan('recurring', {}), 'USD', period, true)).toEqual([])
  })

  test('end a trial of 14 days from 1 January on the 15th', () => {
    const start = new Date('2026-01-01T00:00:00Z')
    expect(trialEnd(14, start)).toEqual(new Date('2026-01-15T00:00:00Z'))
    expect(trialEnd(0, start)).toBeUndefined()
    expect(trialEnd(undefined, start)).toBeUndefined()
  })

  test('carry unused units over to the next period, and not to the one after', () => {
    const rolling = postPaid({ limit: 1_000, rolloverUnusedUnits: true, creditsPerUnit: 100 })
    expect(rolledOverMicros(rolling, units(600))).toBe(units(400))
    expect(rolledOverMicros(rolling, units(1_200))).toBe(0n)
    expect(rolledOverMicros(postPaid({ limit: 1_000 }), units(600))).toBe(0n)
    expect(usageCents(rolling, 1_500, 400)).toBe(1_400n)
    expect(usageCents(rolling, 1_300, 400)).toBe(1_300n)
  })

  test.each([
    ['proportional', 1_900, 4_900, 2_000n],
    ['proportional', 4_900, 1_900, -2_000n],
    ['full', 1_900, 4_900, 4_900n],
    ['none', 1_900, 4_900, 0n],
  ] as const)('%s from %i to %i with 20 of 30 days left: %i', (policy, from, to, cents) => {
    const after = plan('recurring', { prorationPolicy: policy }, { priceMinor: to })
    const changedAt = new Date('2026-06-11T00:00:00Z')
    expect(totalOf(prorationLines(BigInt(from), after, 'USD', period, changedAt))).toBe(cents)
  })

  test('charge late usage at the amount by which its own period would have cost more', () => {
    const tiered = hybrid({ usageTiers: examplesTiers, overagePolicy: { allowOverage: true } })
    const late = lateUsageLines(tiered, dollar, { ...used(1_400), lateMicros: units(300) })
    // 400 units were priced before. Of 300 more, 100 are in the first tier and 200 in the second.
    expect(totalOf(late)).toBe(110n)
    expect(usageCents(tiered, 1_400) + 110n).toBe(usageCents(tiered, 1_700))
    expect(lateUsageLines(tiered, dollar, { ...used(1_400), lateMicros: 0n })).toEqual([])
  })

  test('charge the price and the set-up fee of a one-time plan', () => {
    const once = plan('one-time', {}, { priceMinor: 9_900, setupFeeMinor: 100 })
    expect(totalOf(oneTimeLines(once, 'USD'))).toBe(10_000n)
  })
})

describe('currencies', () => {
  const sold = plan(
    'hybrid',
    {
      billingModel: 'post-paid',
      creditsPerUnit: 100,
      pricingOptions: [
        { currency: 'USD', price: 0, basePrice: 4_900, default: true },
        { currency: 'EUR', price: 0, basePrice: 4_500, setupFee: 300 },
        { currency: 'JPY', price: 700 },
      ],
    },
    { basePriceMinor: 4_900, setupFeeMinor: 200 },
  )

  test.each([
    ['USD', 4_900n, 200n],
    ['EUR', 4_500n, 300n],
    ['JPY', 700n, 0n],
  ])("use the plan's own prices in %s", (currency, priceMinor, setupFeeMinor) => {
    expect(pricesIn(sold, currency)).toEqual({ currency, priceMinor, setupFeeMinor })
  })

  test('refuse a currency in which the plan has no price', () => {
    expect(pricesIn(sold, 'SEK')).toBeUndefined()
    expect(() => recurringLines(sold, 'SEK', period, false)).toThrow('no price in SEK')
  })

  test.each([
    ['SEK', '9.46', 105_700, 9_999n],
    ['EUR', '0.92', 543_500, 5_000n],
    ['JPY', '150', 33_300, 500n],
  ])('convert credits to %s at the exchange rate', (currency, unitsPerDollar, credits, minor) => {
    const one = postPaid({ creditsPerUnit: 1 })
    expect(totalOf(usageLines(one, { currency, unitsPerDollar }, used(credits)))).toBe(minor)
  })
})

describe('decideDue', () => {
  test.each([
    ['USD', 49n, 0n, 49n],
    ['USD', 50n, 50n, 0n],
    ['USD', -300n, 0n, -300n],
    ['USD', 0n, 0n, 0n],
    ['SEK', 299n, 0n, 299n],
    ['ISK', 12_345n, 12_300n, 45n],
    ['HUF', 17_499n, 0n, 17_499n],
    ['HUF', 17_501n, 17_501n, 0n],
    ['KWD', 1_234n, 1_234n, 0n],
    ['JPY', 50n, 50n, 0n],
  ])('for %s %i returns %i due and %i carried over', (currency, total, dueMinor, carriedMinor) => {
    expect(decideDue(total, currency)).toEqual({ dueMinor, carriedMinor, isHeld: false })
  })

  test('holds an amount above the maximum of the processor', () => {
    expect(decideDue(99_999_999n, 'USD').isHeld).toBe(false)
    expect(decideDue(100_000_000n, 'USD')).toEqual({
      dueMinor: 100_000_000n,
      carriedMinor: 0n,
      isHeld: true,
    })
    expect(decideDue(9_999_999n, 'KWD').isHeld).toBe(false)
    expect(decideDue(10_000_000n, 'KWD').isHeld).toBe(true)
  })

  test('returns a carried amount as a line of the next invoice, whatever its sign', () => {
    expect(totalOf(carriedInLines(49n))).toBe(49n)
    expect(totalOf(carriedInLines(-300n))).toBe(-300n)
    expect(carriedInLines(0n)).toEqual([])
  })
})

test('the example month is a period of the calendar', () => {
  const cycle = { anchor: period.start, billingCycle: 'monthly', mode: 'calendar' } as const
  expect(periodOf(cycle, 0)).toMatchObject(period)
})
