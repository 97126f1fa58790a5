import type { Charge } from '@tollgate/schemas/http/charges'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { microsOfDecimal } from '../src/money/decimal.ts'
import { nextHistory } from '../src/overrides/next-history.ts'
import type { OverridesVersion } from '../src/overrides/overrides.ts'
import { planToBill } from '../src/overrides/overridden-plan.ts'
import type { PlanSnapshot } from '../src/plans/plan-snapshot.ts'
import { lateUsageLines, usageLines } from '../src/pricing/charges.ts'
import type { InvoiceLine } from '../src/pricing/invoice-line.ts'
import { oracleChargePrice, type OracleCharge } from './charge-oracle.ts'
import { Rational } from './pricing-oracle.ts'

/*
 * Random changes of a customer's overrides, and the bills of all periods. A model replays changes and beginnings of periods in the order
 * of time and remembers what each period began with, and the oracle prices that.
 */

const startMs = Date.parse('2026-01-01T00:00:00Z')
const periodMs = 1_000_000
const periods = 4

/** Units as decimal text with at most 3 decimals. */
const units = fc.integer({ min: 0, max: 400_000 }).map((thousandths) => String(thousandths / 1000))
const price = fc.integer({ min: 0, max: 90_000 }).map((part) => (part / 1000).toFixed(3))

type Terms = {
  readonly price?: string | undefined
  readonly included?: string | undefined
  readonly cap?: string | undefined
}

const terms: fc.Arbitrary<Terms> = fc.record(
  { price, included: units, cap: units },
  { requiredKeys: [] },
)

/** Half of the changes are next to the beginning of a period, where the order decides. */
const instants = fc.oneof(
  fc.integer({ min: -periodMs, max: periods * periodMs }),
  fc
    .tuple(
      fc.integer({ min: 0, max: periods }),
      fc.constantFrom(-1_001, -1_000, -1, 0, 1, 999, 1_000),
    )
    .map(([period, offMs]) => period * periodMs + offMs),
)

const stories = fc.record({
  plan: fc.record({ price, included: units, cap: units }),
  changes: fc.array(fc.record({ atMs: instants, terms: fc.oneof(terms, fc.constant<Terms>({})) }), {
    maxLength: 8,
  }),
  used: fc.array(units, { minLength: periods, maxLength: periods }),
  late: fc.array(units, { minLength: periods, maxLength: periods }),
})

type Story = typeof stories extends fc.Arbitrary<infer Each> ? Each : never

const number = (text: string | undefined) => (text === undefined ? undefined : Number(text))

function planOf({ price: each, included, cap }: Story['plan']): PlanSnapshot {
  const charge: Charge = {
    ...{ key: 'tokens', meter: 'tokens', model: 'per_unit', per: 'period', price: each },
    ...{ included: Number(included), cap: Number(cap) },
  }
  return {
    ...{ reference: 'pln_1', name: 'Pro', type: 'hybrid', priceMinor: 0, basePriceMinor: null },
    ...{ setupFeeMinor: null, currency: 'USD', meterRef: 'mtr_1' },
    terms: { billingModel: 'post-paid', charges: [charge] },
  }
}

function historyOf(changes: Story['changes']): readonly OverridesVersion[] {
  return changes.reduce<readonly OverridesVersion[]>((history, { atMs, terms: given }) => {
    const override = {
      charge: 'tokens',
      ...(given.price === undefined ? {} : { price: given.price }),
      ...(given.included === undefined ? {} : { included: number(given.included) }),
      ...(given.cap === undefined ? {} : { cap: number(given.cap) }),
    }
    const charges = Object.keys(given).length === 0 ? [] : [override]
    return nextHistory(history, { charges, usageLimits: [] }, new Date(startMs + atMs))!
  }, [])
}

/** What the oracle prices a period by. */
function modelOf({ plan, changes }: Story): OracleCharge[] {
  const begun: { price: string; included: string; caps: string[] }[] = []
  let own: Terms = {}
  const capNow = (): string => own.cap ?? plan.cap
  // A change in the second in which a period begins is before it.
  const changeSecond = ({ atMs }: Story['changes'][number]): number => Math.floor(atMs / 1000)
  let next = 0
  for (let second = -periodMs / 1000; second < (periods * periodMs) / 1000; second += 1) {
    let isChanged = false
    while (next < changes.length && changeSecond(changes[next]!) === second) {
      own = changes[next]!.terms
      isChanged = true
      next += 1
    }
    if (second >= 0 && (second * 1000) % periodMs === 0) {
      const included = own.included ?? plan.included
      begun.push({ price: own.price ?? plan.price, included, caps: [capNow()] })
    } else if (isChanged) begun.at(-1)?.caps.push(capNow())
  }
  return begun.map(({ price: each, included, caps }) => {
    const isOpen = caps.some((cap) => Number(cap) === 0)
    const cap = isOpen ? undefined : String(Math.max(...caps.map(Number)))
    return { model: 'per_unit', price: each, included, ...(cap === undefined ? {} : { cap }) }
  })
}

const reading = { meterName: 'tokens', watermark: '2026-07-01T00:05:00.000Z', nextOffsets: {} }
const conversion = { currency: 'USD', unitsPerDollar: '1' }

function exactOf(line: InvoiceLine | undefined): Rational {
  if (line === undefined) return Rational.of(0n)
  return Rational.of(line.exact.numerator, line.exact.denominator)
}

test('bills each period by what it began with, whatever changes within it and after it', () => {
  const seed = Date.now() | 0
  fc.assert(
    fc.property(stories, (given) => {
      const story = { ...given, changes: given.changes.toSorted((a, b) => a.atMs - b.atMs) }
      const plan = planOf(story.plan)
      const purchase = {
        ...{
          startDate: new Date(startMs),
          anchor: new Date(startMs),
          cycleMode: 'calendar' as const,
        },
        firstIncludedMicros: null,
        overrides: historyOf(story.changes),
      }
      for (const [at, charge] of modelOf(story).entries()) {
        const start = new Date(startMs + at * periodMs)
        const period = { start, end: new Date(start.getTime() + periodMs) }
        const billed = planToBill(plan, purchase, period)
        const used = story.used[at]!
        const usage = { period, reading, usedMicros: microsOfDecimal(used), carriedOverMicros: 0n }
        const first = oracleChargePrice(charge, { used, carriedOver: '0', before: '0' })
        const [line] = usageLines(billed, conversion, usage, 'tokens')
        expect(exactOf(line).equals(first)).toBe(true)
        expect(line!.amountMinor).toBe(first.nearest())
        const lateMicros = microsOfDecimal(story.late[at]!)
        const all = (Number(used) + Number(story.late[at]!)).toFixed(3)
        const second = oracleChargePrice(charge, { used: all, carriedOver: '0', before: '0' })
        const [late] = lateUsageLines(billed, conversion, { ...usage, lateMicros }, 'tokens')
        expect(exactOf(late).equals(second.minus(first))).toBe(true)
      }
    }),
    { numRuns: 500, seed },
  )
})
