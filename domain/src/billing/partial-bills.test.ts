import type { Charge } from '@tollgate/schemas/http/charges'
import { decimalFromMicros } from '@tollgate/schemas/quantity'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  oracleChargePrice,
  oracleMatrixPrice,
  type OracleCharge,
} from '../../test/charge-oracle.ts'
import { Rational } from '../../test/pricing-oracle.ts'
import { recomputeInvoice } from '../invoices/recompute-invoice.ts'
import { sumBilledCharges, type ChargedLineRow } from '../invoices/sum-billed-usage.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import type { CreditConversion } from '../pricing/line-inputs.ts'
import { usageBillLines, type BilledPart, type ChargeUsage } from './usage-lines.ts'

/*
 * Several bills of one period: within it, at its end, and for late usage after it. After each bill, the sum of all lines is the
 * oracle's price of all usage so far, to the minor unit.
 */

const runs = Number(process.env['TOLLGATE_TEST_PARTIAL_BILLS'] ?? 1_000)

const june = { start: new Date('2026-06-01T00:00:00Z'), end: new Date('2026-07-01T00:00:00Z') }
const purchase = {
  anchor: june.start,
  startDate: june.start,
  suspendedAt: null,
  accessRestoredAt: null,
  cycleMode: 'calendar' as const,
  firstIncludedMicros: null,
}

const units = fc.oneof(
  fc.nat(200).map(String),
  fc.nat(30_000_000).map((micros) => decimalFromMicros(BigInt(micros))),
)
const price = fc.oneof(
  fc.nat(50).map(String),
  fc.nat(9_999).map((parts) => (parts / 1_000).toFixed(3)),
  fc.constantFrom('0.5', '0.000000000001', '0.333333333333'),
)
const included = fc.option(fc.nat(100).map(String), { nil: undefined })
const cap = fc.option(fc.integer({ min: 101, max: 400 }).map(String), { nil: undefined })

const charges: fc.Arbitrary<OracleCharge> = fc
  .tuple(
    fc.oneof(
      fc.record({ model: fc.constant('per_unit' as const), price }),
      fc.record({
        model: fc.constant('package' as const),
        price,
        unitsPerPackage: fc.integer({ min: 1, max: 70 }).map(String),
      }),
      fc.record({
        model: fc.constant('graduated' as const),
        tiers: fc
          .tuple(fc.integer({ min: 1, max: 80 }), fc.integer({ min: 81, max: 200 }))
          .chain((ends) => fc.tuple(price, price, price, price).map((prices) => [ends, prices]))
          .map(([ends, prices]) => [
            { upTo: String(ends![0]), price: String(prices![0]), flatPrice: String(prices![3]) },
            { upTo: String(ends![1]), price: String(prices![1]) },
            { upTo: null, price: String(prices![2]), flatPrice: String(prices![3]) },
          ]),
      }),
    ),
    included,
    cap,
  )
  .map(([charge, includedUnits, capUnits]) => ({
    ...charge,
    ...(includedUnits === undefined ? {} : { included: includedUnits }),
    ...(capUnits === undefined ? {} : { cap: capUnits }),
  }))

/** The usage since the bill before, in decimal text. */
const bills = fc.array(
  fc.record({
    used: units,
    packed: fc.oneof(fc.constant('0'), units),
    before: fc.oneof(fc.constant('0'), units),
    rows: fc.tuple(units, units, units),
    unitsPerDollar: fc.constantFrom('1', '9.4637', '0.92'),
  }),
  { minLength: 1, maxLength: 7 },
)

const numbersOf = ({ tiers, unitsPerPackage, ...charge }: OracleCharge, inCredits: boolean) => {
  const priced = (text: string | undefined) =>
    text === undefined ? {} : inCredits ? { creditsPerUnit: text } : { price: text }
  return {
    ...{
      key: 'units',
      meter: 'units',
      model: charge.model,
      per: 'period',
      ...priced(charge.price),
    },
    ...(charge.included === undefined ? {} : { included: Number(charge.included) }),
    ...(charge.cap === undefined ? {} : { cap: Number(charge.cap) }),
    ...(unitsPerPackage === undefined ? {} : { unitsPerPackage: Number(unitsPerPackage) }),
    ...(tiers === undefined
      ? {}
      : {
          tiers: tiers.map(({ upTo, price: each, flatPrice }) => ({
            upTo: upTo === null ? null : Number(upTo),
            ...priced(each),
            ...(flatPrice === undefined ? {} : { flatPrice }),
          })),
        }),
  } as Charge
}

const matrix = (prices: readonly string[]): Charge => ({
  key: 'rows',
  meter: 'rows',
  model: 'matrix',
  rows: [
    { when: { size: 'a' }, price: prices[0]! },
    { when: { size: 'b' }, price: prices[1]! },
  ],
  price: prices[2]!,
  per: 'period',
})

function planOf(planCharges: readonly Charge[], currency: string): PlanSnapshot {
  const terms = { billingModel: 'post-paid', billAtUnbilledMinor: 100 } as const
  return {
    reference: 'pln_1',
    name: 'Pro',
    type: 'usage-based',
    priceMinor: 0,
    basePriceMinor: null,
    setupFeeMinor: null,
    currency,
    meterRef: 'mtr_1',
    terms: { ...terms, charges: [...planCharges] },
  }
}

const sum = (one: string, other: string): string =>
  decimalFromMicros(microsOf(one) + microsOf(other))

function microsOf(text: string): bigint {
  const [whole = '0', decimals = ''] = text.split('.')
  return BigInt(whole) * 1_000_000n + BigInt(decimals.padEnd(6, '0'))
}

/** Returns the line as the database returns it to the next bill. */
function rowOf({ inputs, amountMinor }: InvoiceLine): ChargedLineRow {
  if (inputs.kind !== 'usage' && inputs.kind !== 'late_usage') throw new Error(inputs.kind)
  const late = inputs.kind === 'late_usage' ? inputs : undefined
  return {
    period_start: june.start,
    kind: inputs.kind,
    used: inputs.usedUnits,
    late: late?.lateUnits ?? null,
    carried: inputs.carriedOverUnits,
    before: inputs.usedBeforeUnits ?? null,
    late_before: late?.lateBeforeUnits ?? null,
    charge: inputs.charge ?? null,
    packed: inputs.packUnits ?? null,
    late_packed: late?.latePackUnits ?? null,
    row_units: inputs.rowUnits ?? null,
    late_row_units: late?.lateRowUnits ?? null,
    late_carried: late?.lateCarriedOverUnits ?? null,
    amount: amountMinor.toString(),
    conversion: inputs.conversion,
  }
}

type Totals = { used: string; packed: string; before: string; rows: string[] }

/** Returns what the bill sums up: all usage of the period, as the current one or as one that was billed in part. */
function measuredOf(totals: Totals, rows: readonly ChargedLineRow[], at: number): ChargeUsage[] {
  const reading = {
    meterName: 'units',
    watermark: new Date(june.start.getTime() + (at + 1) * 86_400_000).toISOString(),
    nextOffsets: {},
  }
  const billed = sumBilledCharges(rows).get(june.start.getTime())
  const ofUnits = {
    period: june,
    usedMicros: microsOf(totals.used),
    usedBeforeMicros: microsOf(totals.before),
    ...(totals.packed === '0' ? {} : { packMicros: microsOf(totals.packed) }),
  }
  const rowMicros = totals.rows.map(microsOf)
  const ofRows = {
    period: june,
    usedMicros: rowMicros.reduce((all, micros) => all + micros, 0n),
    usedBeforeMicros: 0n,
    rowMicros,
  }
  return [['units', ofUnits] as const, ['rows', ofRows] as const].map(([key, used]) =>
    billed === undefined
      ? { key, current: used, earlier: [], reading }
      : { key, current: undefined, earlier: [{ ...used, billed: billed.get(key)! }], reading },
  )
}

test(`${runs} random periods cost as much in several bills as in one`, () => {
  const property = fc.property(
    charges,
    fc.tuple(price, price, price),
    fc.boolean(),
    bills,
    fc.nat(2),
    (charge, matrixPrices, inCredits, given, lateBills) => {
      const currency = inCredits ? 'SEK' : 'USD'
      const plan = planOf(
        [numbersOf(charge, inCredits), matrix(matrixPrices)],
        inCredits ? 'SEK' : 'USD',
      )
      const totals: Totals = { used: '0', packed: '0', before: '0', rows: ['0', '0', '0'] }
      const rows: ChargedLineRow[] = []
      const billedMinor = { units: 0n, rows: 0n }
      for (const [at, bill] of given.entries()) {
        totals.used = sum(totals.used, bill.used)
        totals.before = sum(totals.before, bill.before)
        // Packs pay for at most the used units.
        const packed = sum(totals.packed, bill.packed)
        totals.packed = microsOf(packed) > microsOf(totals.used) ? totals.packed : packed
        totals.rows = totals.rows.map((each, row) => sum(each, bill.rows[row]!))
        const conversion: CreditConversion = { currency, unitsPerDollar: bill.unitsPerDollar }
        const isLate = at > 0 && at >= given.length - lateBills
        const part: BilledPart | undefined = isLate
          ? undefined
          : { periodStart: june.start, since: at === 0 ? undefined : june.start, until: june.end }
        const measured = measuredOf(totals, rows, at)
        const lines = usageBillLines(purchase, plan, conversion, measured, part)
        expect(recomputeInvoice({ lines, totalMinor: totalOf(lines) })).toEqual([])
        rows.push(...lines.map(rowOf))
        for (const { inputs, amountMinor } of lines) {
          billedMinor[(inputs as { charge: 'units' | 'rows' }).charge] += amountMinor
        }
        // The period keeps the rate of its first bill.
        const rate = inCredits ? given[0]!.unitsPerDollar : undefined
        expect(billedMinor).toEqual({
          units: oracleUnits(charge, totals, rate).nearest(),
          rows: oracleMatrixPrice(
            totals.rows.map((each, row) => ({ units: each, price: matrixPrices[row]! })),
          ).nearest(),
        })
      }
    },
  )
  fc.assert(property, { numRuns: runs })
})

function oracleUnits(charge: OracleCharge, totals: Totals, rate: string | undefined): Rational {
  const used = decimalFromMicros(microsOf(totals.used) - microsOf(totals.packed))
  const cost = oracleChargePrice(charge, { used, carriedOver: '0', before: totals.before })
  // 10,000 credits are a dollar, which is 100 times the rate in minor units.
  return rate === undefined ? cost : cost.times(Rational.from(rate)).dividedBy(Rational.of(100n))
}
