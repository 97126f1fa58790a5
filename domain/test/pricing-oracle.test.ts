import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PlanTerms } from '../src/plans/plan.ts'
import { microsOfDecimal } from '../src/money/decimal.ts'
import { lateUsageLines, usageLines } from '../src/pricing/charges.ts'
import type { InvoiceLine } from '../src/pricing/invoice-line.ts'
import type { PlanSnapshot } from '../src/plans/plan-snapshot.ts'
import { oraclePrice, Rational, type OracleCurrency, type OraclePlan } from './pricing-oracle.ts'

/*
 * Compares prices of random plans and usages with the oracle, to the last digit before rounding and to the smallest unit
 * after it. `npm run test:pricing` checks a million of them and prints its progress.
 */

const cases = Number(process.env['TOLLGATE_TEST_PRICING_CASES'] ?? 5_000)
const casesAtOnce = 20_000

/** Returns decimal text with at most 6 decimals. */
function decimal(max: number): fc.Arbitrary<string> {
  const decimals = fc.constantFrom(0, 0, 0, 1, 2, 6)
  return decimals.chain((places) => {
    const scale = 10 ** places
    // Plans contain doubles, which have about 16 digits.
    return fc
      .nat(Math.min(max * scale, 2 ** 31 - 1))
      .map((digits) => (digits / scale).toFixed(places))
  })
}

const units = fc.oneof(decimal(100), decimal(20_000), decimal(2_000_000))
const moreThanNone = units.filter((text) => Number(text) > 0)
const rate = fc.oneof(decimal(3), decimal(200), decimal(50_000))

const tiers = fc
  .tuple(
    fc.uniqueArray(moreThanNone, { maxLength: 4, selector: Number }),
    fc.array(rate, { minLength: 5, maxLength: 5 }),
  )
  .map(([ends, rates]) => {
    const borders = ends.toSorted((one, other) => Number(one) - Number(other))
    // The last tier has no end, even if it states one.
    const all = Number(rates[0]) > 100 ? borders : [...borders, undefined]
    return all.map((upTo, at) => ({
      ...(upTo === undefined ? {} : { upTo }),
      creditsPerUnit: rates[at]!,
    }))
  })

const plans: fc.Arbitrary<OraclePlan> = fc.record(
  {
    type: fc.constantFrom('usage-based', 'hybrid'),
    limit: units,
    freeUnits: units,
    creditsPerUnit: rate,
    unitsPerPackage: moreThanNone,
    tierMode: fc.constantFrom('graduated', 'volume'),
    tiers,
    overage: fc.record({ rate, max: units }, { requiredKeys: [] }),
  },
  { requiredKeys: ['type'] },
)

const microText = (micros: bigint): string => {
  const digits = micros.toString().padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}

/** Amounts at and next to the boundaries of the plan, which random amounts never hit. */
function usedAtBorder(plan: OraclePlan, carriedOver: string, pick: number, offBy: bigint): string {
  const [free, limit, most] = [plan.freeUnits, plan.limit, plan.overage?.max].map((text) =>
    microsOfDecimal(text ?? '0'),
  ) as [bigint, bigint, bigint]
  const borders = [
    0n,
    ...(plan.overage ? [most] : []),
    ...(plan.tiers ?? []).map(({ upTo }) => microsOfDecimal(upTo ?? '0')),
  ]
  const widened = limit + microsOfDecimal(carriedOver)
  const all = borders.flatMap((border) =>
    [free, widened, free + widened].map((from) => from + border),
  )
  const micros = all[pick % all.length]! + offBy
  return microText(micros > 0n ? micros : 0n)
}

const carriedOvers = fc.oneof(fc.constant('0'), units)

const usages = fc
  .tuple(plans, carriedOvers, units, fc.nat(99), fc.constantFrom(0n, 0n, -1n, 1n), fc.nat(3))
  .map(([plan, carriedOver, anywhere, pick, offBy, where]) => {
    const used = where > 0 ? usedAtBorder(plan, carriedOver, pick, offBy) : anywhere
    return { plan, carriedOver, used }
  })

const currencies = fc.constantFrom(
  { currency: 'USD', unitsPerDollar: '1', decimals: 2 },
  { currency: 'EUR', unitsPerDollar: '0.92', decimals: 2 },
  { currency: 'SEK', unitsPerDollar: '9.4637', decimals: 2 },
  { currency: 'JPY', unitsPerDollar: '149.8765432109', decimals: 0 },
  { currency: 'KWD', unitsPerDollar: '0.3071', decimals: 2 },
) satisfies fc.Arbitrary<OracleCurrency & { currency: string }>

function toPlan(plan: OraclePlan): PlanSnapshot {
  const number = <Key extends string>(key: Key, text: string | undefined) =>
    (text === undefined ? {} : { [key]: Number(text) }) as Record<Key, number>
  const { overage, tiers: given = [] } = plan
  const terms: PlanTerms = {
    billingModel: 'post-paid',
    ...number('limit', plan.limit),
    ...number('freeUnits', plan.freeUnits),
    ...number('creditsPerUnit', plan.creditsPerUnit),
    ...number('unitsPerPackage', plan.unitsPerPackage),
    ...(plan.tierMode === undefined ? {} : { usageTierMode: plan.tierMode }),
    usageTiers: given.map(({ upTo, creditsPerUnit }, at) => ({
      minUsage: Number(given[at - 1]?.upTo ?? 0),
      ...number('maxUsage', upTo),
      creditsPerUnit: Number(creditsPerUnit),
    })),
    ...(overage === undefined
      ? {}
      : {
          overagePolicy: {
            allowOverage: true,
            ...number('overageRate', overage.rate),
            ...number('maxOverage', overage.max),
          },
        }),
  }
  return {
    reference: 'pln_1',
    name: 'Pro',
    type: plan.type,
    priceMinor: 0,
    basePriceMinor: null,
    setupFeeMinor: null,
    currency: 'USD',
    meterRef: 'mtr_1',
    terms,
  }
}

const period = { start: new Date('2026-06-01T00:00:00Z'), end: new Date('2026-07-01T00:00:00Z') }
const reading = { meterName: 'requests', watermark: '2026-07-01T00:05:00.000Z', nextOffsets: {} }

function expectLine(line: InvoiceLine, exact: Rational): void {
  const { numerator, denominator } = line.exact
  expect(Rational.of(numerator, denominator).equals(exact)).toBe(true)
  expect(line.amountMinor).toBe(exact.nearest())
  const residual = Rational.of(line.residualNumerator, denominator)
  expect(residual.plus(Rational.of(line.amountMinor)).equals(exact)).toBe(true)
}

const priced = fc.property(
  usages,
  units,
  currencies,
  ({ plan, carriedOver, used }, late, { currency, ...rates }) => {
    const conversion = { currency, unitsPerDollar: rates.unitsPerDollar }
    const usedMicros = microsOfDecimal(used)
    const lateMicros = microsOfDecimal(late)
    const usage = { period, reading, usedMicros, carriedOverMicros: microsOfDecimal(carriedOver) }
    const [line] = usageLines(toPlan(plan), conversion, usage)
    const price = oraclePrice(plan, used, carriedOver, rates)
    expectLine(line!, price)
    const [lateLine] = lateUsageLines(toPlan(plan), conversion, { ...usage, lateMicros })
    if (lateLine === undefined) return
    const together = microText(usedMicros + lateMicros)
    expectLine(lateLine, oraclePrice(plan, together, carriedOver, rates).minus(price))
  },
)

test(
  `${cases.toLocaleString('en')} random plans and usages cost what the oracle says`,
  () => {
    const seed = Date.now()
    for (let done = 0; done < cases; done += casesAtOnce) {
      const numRuns = Math.min(casesAtOnce, cases - done)
      fc.assert(priced, { numRuns, seed: (seed + done) | 0 })
      if (cases > casesAtOnce) {
        console.log(`${(done + numRuns).toLocaleString('en')} cases, 0 differences`)
      }
    }
  },
  // No time limit: the test only computes.
  0,
)
