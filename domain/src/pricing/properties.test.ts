import fc from 'fast-check'
import {
  chargeStepMinor,
  fromProcessorAmount,
  toProcessorAmount,
} from '@tollgate/platform/payments/processor-amounts'
import { describe, expect, test } from 'vitest'
import { minorPerMajor } from '../money/currencies.ts'
import { microsOfDecimal } from '../money/decimal.ts'
import { chargeableMinor, chargeMaxMinor, chargeMinMinor } from '../money/processor-amounts.ts'
import { decideDue } from './decide-due.ts'
import type { LineInputs } from './line-inputs.ts'
import { priceLine } from './price-line.ts'
import { billableMicros, priceUsage } from './price-usage.ts'
import type { Rate, UsageTerms } from './usage-terms.ts'

/* Properties of all prices, whatever the plan. */

const units = fc.nat(5_000).map(String)
const upToNone = fc.option(units)
const rates = fc.integer({ min: 0, max: 400 }).map((tenths) => (tenths / 10).toFixed(1))

const tiers = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: 1, max: 5_000 }), { maxLength: 4 }),
    fc.array(rates, { minLength: 5, maxLength: 5 }),
  )
  .map(([ends, each]) =>
    [...ends.toSorted((one, other) => one - other).map(String), null].map((upTo, at) => ({
      upTo,
      creditsPerUnit: each[at]!,
    })),
  )

const flat = rates.map((creditsPerUnit): Rate => ({ kind: 'flat', creditsPerUnit }))
const graduated = tiers.map((given): Rate => ({ kind: 'graduated', tiers: given }))
const volume = tiers.map((given): Rate => ({ kind: 'volume', tiers: given }))

const termsWith = (rate: fc.Arbitrary<Rate>): fc.Arbitrary<UsageTerms> =>
  fc.record(
    {
      limit: upToNone,
      freeUnits: units,
      overage: fc.record({ maxUnits: upToNone }),
      unitsPerPackage: fc.integer({ min: 1, max: 500 }).map(String),
      rate,
    },
    { requiredKeys: ['limit', 'freeUnits', 'rate'] },
  )

const used = fc.bigInt({ min: 0n, max: 20_000_000_000n })

function priceOf(terms: UsageTerms, usedMicros: bigint, usedBeforeMicros = 0n): bigint {
  return priceUsage(terms, { usedMicros, usedBeforeMicros })
}

describe('the price of usage', () => {
  test('never falls with more usage, except with volume pricing', () => {
    fc.assert(
      fc.property(termsWith(fc.oneof(flat, graduated)), used, used, (terms, one, more) => {
        expect(priceOf(terms, one + more) >= priceOf(terms, one)).toBe(true)
      }),
    )
  })

  test('is the same for all usage at once as for the sum of its late parts', () => {
    const bits = fc.array(used, { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(termsWith(fc.oneof(flat, graduated, volume)), bits, (terms, each) => {
        let before = 0n
        let sum = 0n
        for (const micros of each) {
          const late: LineInputs = lateInputs(terms, before, micros)
          const { exact } = priceLine(late)
          sum += exact.numerator
          before += micros
        }
        expect(sum).toBe(priceOf(terms, before) * 100n)
      }),
    )
  })

  test('is never negative, and is 0 within the free units', () => {
    fc.assert(
      fc.property(termsWith(fc.oneof(flat, graduated, volume)), used, (terms, micros) => {
        expect(priceOf(terms, micros) >= 0n).toBe(true)
        if (micros <= microsOfDecimal(terms.freeUnits)) expect(priceOf(terms, micros)).toBe(0n)
      }),
    )
  })

  test('is the same for one purchase as for purchases that share its allowance', () => {
    const parts = fc.array(used, { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(termsWith(fc.oneof(flat, graduated)), parts, (withPackages, each) => {
        const { unitsPerPackage: _, ...terms } = withPackages
        let before = 0n
        let sum = 0n
        for (const micros of each) {
          sum += priceOf(terms, micros, before)
          before += micros
        }
        expect(sum).toBe(priceOf(terms, before))
      }),
    )
  })

  test('is no lower if other purchases used the shared allowance', () => {
    fc.assert(
      fc.property(termsWith(flat), used, used, ({ freeUnits, rate }, micros, before) => {
        const terms = { freeUnits, rate, limit: null }
        expect(priceOf(terms, micros, before) >= priceOf(terms, micros)).toBe(true)
      }),
    )
  })

  test('covers no more units than were used and allowed', () => {
    fc.assert(
      fc.property(termsWith(flat), used, used, (terms, micros, carriedOver) => {
        const billable = billableMicros(terms, {
          usedMicros: micros,
          carriedOverMicros: carriedOver,
        })
        expect(billable >= 0n && billable <= micros).toBe(true)
        const most = terms.overage === undefined ? terms.limit : terms.overage.maxUnits
        const widened = terms.overage === undefined ? carriedOver : 0n
        if (most !== null) expect(billable <= microsOfDecimal(most) + widened).toBe(true)
      }),
    )
  })
})

/** Returns inputs in dollars. The numerator of their exact amount is 10^-12 credits times 100. */
function lateInputs(terms: UsageTerms, before: bigint, late: bigint): LineInputs {
  const text = (micros: bigint): string => {
    const digits = micros.toString().padStart(7, '0')
    return `${digits.slice(0, -6)}.${digits.slice(-6)}`
  }
  return {
    kind: 'late_usage',
    terms,
    usedUnits: text(before),
    lateUnits: text(late),
    carriedOverUnits: '0',
    conversion: { currency: 'USD', unitsPerDollar: '1' },
    reading: { meterName: 'requests', watermark: '2026-07-01T00:00:00.000Z', nextOffsets: {} },
  }
}

describe('proration', () => {
  const prices = fc.nat(10_000_000).map(String)
  const proportional = (
    oldMinor: string,
    newMinor: string,
    secondsLeft: number,
    secondsInPeriod: number,
  ) =>
    priceLine({
      kind: 'proration',
      policy: 'proportional',
      oldMinor,
      newMinor,
      secondsLeft,
      secondsInPeriod,
    }).amountMinor
  const times = fc
    .tuple(fc.integer({ min: 1, max: 32_000_000 }), fc.nat(1_000))
    .map(([whole, part]) => [Math.floor((whole * part) / 1_000), whole] as const)

  test('is 0 for a change and its reversal', () => {
    fc.assert(
      fc.property(prices, prices, times, (one, other, [left, whole]) => {
        expect(proportional(one, other, left, whole)).toBe(-proportional(other, one, left, whole))
      }),
    )
  })

  test('is the whole difference for a whole period, and 0 for no time', () => {
    fc.assert(
      fc.property(prices, prices, times, (one, other, [, whole]) => {
        expect(proportional(one, other, whole, whole)).toBe(BigInt(other) - BigInt(one))
        expect(proportional(one, other, 0, whole)).toBe(0n)
      }),
    )
  })
})

describe('currencies', () => {
  // `unusual`: all currencies for which ISO 4217 does not count hundredths, and some others.
  const unusual =
    'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF UGX VND VUV XAF XOF XPF ISK BHD JOD KWD OMR TND'
  const usual =
    'USD EUR GBP SEK NOK DKK CHF CAD AUD PLN CZK HUF MXN HKD SGD NZD BRL INR AED RON MYR THB TWD'
  const all = [...unusual.split(' '), ...usual.split(' ')]

  /** Currencies with special units in the processor's documentation. */
  const three = ['BHD', 'JOD', 'KWD', 'OMR', 'TND']
  const whole = ['ISK', 'UGX']
  const perMajorOf = (currency: string): bigint =>
    three.includes(currency) ? 1000n : whole.includes(currency) ? 100n : minorPerMajor(currency)
  const stepOf = (currency: string): bigint =>
    three.includes(currency) ? 10n : whole.includes(currency) ? 100n : 1n

  test.each(all)(
    '%s: a chargeable amount converts to processor units and back without loss',
    (currency) => {
      fc.assert(
        fc.property(fc.bigInt({ min: 0n, max: 10n ** 9n }), (amount) => {
          const chargeable = chargeableMinor(amount, currency)
          expect(amount - chargeable >= 0n).toBe(true)
          const processorAmount = toProcessorAmount(chargeable, currency)
          expect(processorAmount % stepOf(currency)).toBe(0n)
          expect(fromProcessorAmount(processorAmount, currency)).toBe(chargeable)
          expect(processorAmount * minorPerMajor(currency)).toBe(chargeable * perMajorOf(currency))
          // No larger amount could have been charged.
          expect(amount - chargeable < chargeStepMinor(currency)).toBe(true)
        }),
      )
    },
  )

  test.each(all)('%s: the amount due can be charged, and the rest is carried over', (currency) => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 6n), max: 10n ** 11n }), (total) => {
        const { dueMinor, carriedMinor, isHeld } = decideDue(total, currency)
        expect(dueMinor + carriedMinor).toBe(total)
        if (total < chargeMinMinor(currency)) expect(dueMinor).toBe(0n)
        expect(isHeld).toBe(dueMinor > chargeMaxMinor(currency))
        const processorAmount = toProcessorAmount(dueMinor, currency)
        if (!isHeld) expect(processorAmount.toString().length).toBeLessThanOrEqual(8)
      }),
    )
  })

  test.each([
    ['USD', 1_234n, 1_234n],
    ['JPY', 500n, 500n],
    ['KWD', 512n, 5_120n],
    ['ISK', 500n, 500n],
    ['UGX', 5n, 500n],
    ['HUF', 1_045n, 1_045n],
  ])('%s: %i minor units are %i units of the processor', (currency, ours, theirs) => {
    expect(toProcessorAmount(ours, currency)).toBe(theirs)
    expect(fromProcessorAmount(theirs, currency)).toBe(ours)
  })

  test.each([
    [5_124n, 512n],
    [5_125n, 513n],
    [-5_125n, -513n],
    [-5_124n, -512n],
  ])('%i thousandths, such as a fee in KWD, are %i minor units', (theirs, ours) => {
    expect(fromProcessorAmount(theirs, 'KWD')).toBe(ours)
  })

  test('a number with more than 6 decimals is refused', () => {
    expect(() => microsOfDecimal('0.0000001')).toThrow('6 decimals')
  })
})
