import type { Charge } from '@tollgate/schemas/http/charges'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { microsOfDecimal } from '../src/money/decimal.ts'
import type { PlanSnapshot } from '../src/plans/plan-snapshot.ts'
import { lateUsageLines, usageLines } from '../src/pricing/charges.ts'
import type { InvoiceLine } from '../src/pricing/invoice-line.ts'
import {
  oracleChargePrice,
  oracleMatrixPrice,
  type OracleCharge,
  type OracleTier,
} from './charge-oracle.ts'
import { Rational } from './pricing-oracle.ts'

/*
 * Compares prices of random charges with the oracle, to the last digit before rounding and to the smallest unit after it.
 * `npm run test:pricing` checks a million of them.
 */

const cases = Number(process.env['TOLLGATE_TEST_PRICING_CASES'] ?? 5_000)
const casesAtOnce = 20_000

/** Returns decimal text with at most `places` decimals. */
function decimalText(max: number, places: number): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat(max), fc.nat(places))
    .chain(([whole, digits]) =>
      digits === 0
        ? fc.constant(`${whole}`)
        : fc
            .bigInt({ min: 0n, max: 10n ** BigInt(digits) - 1n })
            .map((rest) => `${whole}.${rest.toString().padStart(digits, '0')}`),
    )
}

// Units of a plan are doubles, which have about 16 digits.
const units = fc.oneof(decimalText(100, 6), decimalText(20_000, 2), decimalText(2_000_000, 0))
const someUnits = units.filter((text) => Number(text) > 0)
const price = fc.oneof(decimalText(0, 12), decimalText(3, 12), decimalText(50_000, 2))

const tiers: fc.Arbitrary<OracleTier[]> = fc
  .tuple(
    fc.uniqueArray(someUnits, { maxLength: 4, selector: Number }),
    fc.array(fc.record({ price, flatPrice: price }, { requiredKeys: ['price'] }), {
      minLength: 5,
      maxLength: 5,
    }),
  )
  .map(([ends, priced]) => {
    const borders = ends.toSorted((one, other) => Number(one) - Number(other))
    return [...borders, null].map((upTo, at) => ({ upTo, ...priced[at]! }))
  })

const allowance = fc.record({ included: units, over: units }, { requiredKeys: [] })

const charges: fc.Arbitrary<OracleCharge> = fc
  .tuple(
    fc.oneof(
      fc.record({ model: fc.constant('per_unit' as const), price }),
      fc.record({ model: fc.constantFrom('graduated' as const, 'volume' as const), tiers }),
      fc.record({ model: fc.constant('package' as const), price, unitsPerPackage: someUnits }),
    ),
    allowance,
  )
  .map(([charge, { included, over }]) => {
    const most = Number(over ?? 0) + Number(included ?? 0)
    return {
      ...charge,
      ...(included === undefined ? {} : { included }),
      // Sums of two decimals are rounded to the digits that a plan may have.
      ...(over === undefined || most === 0 ? {} : { cap: most.toFixed(6) }),
    }
  })

const currencies = fc.constantFrom(
  { currency: 'USD', unitsPerDollar: '1', decimals: 2n },
  { currency: 'SEK', unitsPerDollar: '9.4637', decimals: 2n },
  { currency: 'JPY', unitsPerDollar: '149.8765432109', decimals: 0n },
)

const textOf = (micros: bigint): string => {
  const digits = micros.toString().padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}

/** Amounts at and next to the boundaries of the charge, which random amounts never hit. */
function usedAtBorder(charge: OracleCharge, carriedOver: string, pick: number, offBy: bigint) {
  const micros = (text: string | undefined): bigint => microsOfDecimal(text ?? '0')
  const included = micros(charge.included)
  const borders = [
    0n,
    ...(charge.tiers ?? []).map(({ upTo }) => micros(upTo ?? undefined)),
    micros(charge.cap) - included,
    micros(charge.unitsPerPackage) * 2n,
  ]
  const all = borders.flatMap((border) => [
    border,
    included + border,
    included + micros(carriedOver) + border,
  ])
  const used = all[pick % all.length]! + offBy
  return textOf(used > 0n ? used : 0n)
}

const usages = fc
  .record({
    charge: charges,
    carriedOver: fc.oneof(fc.constant('0'), units),
    before: fc.oneof(fc.constant('0'), units),
    isBeforeAtBorder: fc.boolean(),
    beforePick: fc.nat(99),
    anywhere: units,
    pick: fc.nat(99),
    offBy: fc.constantFrom(0n, 0n, -1n, 1n),
    where: fc.nat(3),
    late: units,
  })
  .map(({ anywhere, pick, offBy, where, isBeforeAtBorder, beforePick, ...usage }) => {
    const { charge, carriedOver } = usage
    const atBorder = (at: number) => usedAtBorder(charge, carriedOver, at, offBy)
    return {
      ...usage,
      before: isBeforeAtBorder ? atBorder(beforePick) : usage.before,
      used: where > 0 ? atBorder(pick) : anywhere,
    }
  })

function planWith(charge: Charge, currency: string): PlanSnapshot {
  return {
    reference: 'pln_1',
    name: 'Pro',
    type: 'hybrid',
    priceMinor: 0,
    basePriceMinor: null,
    setupFeeMinor: null,
    currency,
    meterRef: 'mtr_1',
    terms: { billingModel: 'post-paid', charges: [charge] },
  }
}

type Unit = 'price' | 'creditsPerUnit'

/** Returns the charge as a client writes it. */
function toCharge(
  { included, cap, unitsPerPackage, tiers: given, ...charge }: OracleCharge,
  unit: Unit,
): Charge {
  const number = (text: string | undefined) => (text === undefined ? undefined : Number(text))
  return {
    key: 'tokens',
    meter: 'tokens',
    model: charge.model,
    per: 'period',
    ...(charge.price === undefined ? {} : { [unit]: charge.price }),
    ...(given === undefined
      ? {}
      : {
          tiers: given.map(({ upTo, price: each, flatPrice }) => ({
            upTo: upTo === null ? null : Number(upTo),
            [unit]: each,
            ...(flatPrice === undefined ? {} : { flatPrice }),
          })),
        }),
    ...(unitsPerPackage === undefined ? {} : { unitsPerPackage: number(unitsPerPackage) }),
    ...(included === undefined ? {} : { included: number(included) }),
    ...(cap === undefined ? {} : { cap: number(cap) }),
  }
}

const period = { start: new Date('2026-06-01T00:00:00Z'), end: new Date('2026-07-01T00:00:00Z') }
const reading = { meterName: 'tokens', watermark: '2026-07-01T00:05:00.000Z', nextOffsets: {} }

function expectLine(line: InvoiceLine | undefined, exact: Rational): void {
  const { numerator, denominator } = line!.exact
  expect(Rational.of(numerator, denominator).equals(exact)).toBe(true)
  expect(line!.amountMinor).toBe(exact.nearest())
}

/** Returns minor units for an amount in the unit of the prices. 10,000 credits are worth 1 dollar. */
function minorOf(
  amount: Rational,
  unit: Unit,
  rates: { unitsPerDollar: string; decimals: bigint },
) {
  if (unit === 'price') return amount
  const dollars = amount.dividedBy(Rational.of(10_000n))
  return dollars
    .times(Rational.from(rates.unitsPerDollar))
    .times(Rational.of(10n ** rates.decimals))
}

const priced = fc.property(
  usages,
  currencies,
  fc.constantFrom<Unit>('price', 'creditsPerUnit'),
  ({ charge, used, late, carriedOver, before }, { currency, ...rates }, unit) => {
    const plan = planWith(toCharge(charge, unit), currency)
    const conversion = { currency, unitsPerDollar: rates.unitsPerDollar }
    const usage = {
      period,
      reading,
      usedMicros: microsOfDecimal(used),
      carriedOverMicros: microsOfDecimal(carriedOver),
      usedBeforeMicros: microsOfDecimal(before),
    }
    const first = oracleChargePrice(charge, { used, carriedOver, before })
    const [line] = usageLines(plan, conversion, usage, 'tokens')
    expectLine(line, minorOf(first, unit, rates))
    const lateMicros = microsOfDecimal(late)
    if (lateMicros === 0n) return
    const [lateLine] = lateUsageLines(plan, conversion, { ...usage, lateMicros }, 'tokens')
    const all = textOf(usage.usedMicros + lateMicros)
    const second = oracleChargePrice(charge, { used: all, carriedOver, before }).minus(first)
    expectLine(lateLine, minorOf(second, unit, rates))
  },
)

const rowsOfMatrix = fc.array(fc.record({ units, late: units, price }), {
  minLength: 2,
  maxLength: 6,
})

const matrix = fc.property(
  rowsOfMatrix,
  currencies,
  fc.constantFrom<Unit>('price', 'creditsPerUnit'),
  (rows, { currency, ...rates }, unit) => {
    const own = rows.slice(0, -1)
    const charge: Charge = {
      key: 'images',
      meter: 'images',
      model: 'matrix',
      per: 'period',
      [unit]: rows.at(-1)!.price,
      rows: own.map((row, at) => ({ when: { model: `m${at}` }, [unit]: row.price })),
    }
    const plan = planWith(charge, currency)
    const conversion = { currency, unitsPerDollar: rates.unitsPerDollar }
    const rowMicros = rows.map((row) => microsOfDecimal(row.units))
    const lateRowMicros = rows.map((row) => microsOfDecimal(row.late))
    const sum = (all: readonly bigint[]) => all.reduce((one, other) => one + other, 0n)
    const usage = { period, reading, usedMicros: sum(rowMicros), carriedOverMicros: 0n, rowMicros }
    const [line] = usageLines(plan, conversion, usage, 'images')
    expectLine(line, minorOf(oracleMatrixPrice(rows), unit, rates))
    const late = { ...usage, lateMicros: sum(lateRowMicros), lateRowMicros }
    const [lateLine] = lateUsageLines(plan, conversion, late, 'images')
    if (late.lateMicros === 0n) return
    const more = rows.map((row) => ({ units: row.late, price: row.price }))
    expectLine(lateLine, minorOf(oracleMatrixPrice(more), unit, rates))
  },
)

function checkInSteps(property: fc.IProperty<unknown> | fc.IRawProperty<unknown>): void {
  const seed = Date.now()
  for (let done = 0; done < cases; done += casesAtOnce) {
    const numRuns = Math.min(casesAtOnce, cases - done)
    fc.assert(property as fc.IProperty<unknown>, { numRuns, seed: (seed + done) | 0 })
    if (cases > casesAtOnce) {
      console.log(`${(done + numRuns).toLocaleString('en')} cases, 0 differences`)
    }
  }
}

// No time limits: the tests only compute.
const counted = cases.toLocaleString('en')
test(`${counted} random charges cost what the oracle says`, () => checkInSteps(priced), 0)
test(`${counted} random matrices cost what the oracle says`, () => checkInSteps(matrix), 0)
