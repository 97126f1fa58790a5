import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChargeRate } from '@tollgate/domain/pricing/charge-terms'
import type { LateUsageCharge, UsageCharge } from '@tollgate/domain/pricing/line-inputs'
import { priceLine } from '@tollgate/domain/pricing/price-line'
import type { UsageTerms } from '@tollgate/domain/pricing/usage-terms'
import { lateUsageTexts, usageTexts, type PriceTexts, type UsageTexts } from './usage-texts.ts'

const reading = { meterName: 'requests', watermark: '2026-07-01T00:05:00.000Z', nextOffsets: {} }
const flat: UsageTerms = {
  limit: null,
  freeUnits: '0',
  rate: { kind: 'flat', creditsPerUnit: '0.5' },
}
const tiers = [
  { upTo: '1000', creditsPerUnit: '30' },
  { upTo: null, creditsPerUnit: '20' },
]
const volume: UsageTerms = { ...flat, rate: { kind: 'volume', tiers } }

function charge(terms: UsageTerms, usedUnits: string, more: Partial<UsageCharge> = {}) {
  const conversion = { currency: 'USD', unitsPerDollar: '1' }
  const counted = { terms, usedUnits, carriedOverUnits: '0', conversion, reading }
  return { kind: 'usage', ...counted, ...more } as const
}

function late(terms: UsageTerms, usedUnits: string, lateUnits: string): LateUsageCharge {
  return { ...charge(terms, usedUnits), kind: 'late_usage', lateUnits }
}

/** Returns the details, then each price as a product. */
function linesOf({ details, prices }: UsageTexts): string[] {
  return [...details, ...prices.map(({ quantity, unitPrice }) => `${quantity} × ${unitPrice}`)]
}

describe('usage texts', () => {
  test.each<[string, UsageCharge, string[]]>([
    ['one price', charge(flat, '2500'), ['2,500 requests', '2,500 × $0.00005']],
    ['nothing used', charge(flat, '0'), ['0 requests']],
    ['all of it free', charge({ ...flat, freeUnits: '9' }, '3'), ['3 requests, 9 free']],
    [
      'no more than the limit',
      charge({ ...flat, limit: '10000', freeUnits: '100' }, '12000'),
      ['12,000 requests, 10,000 of them counted, 100 free', '9,900 × $0.00005'],
    ],
    [
      'beyond what is included and was carried over, up to a number',
      charge({ ...flat, limit: '100', overage: { maxUnits: '50' } }, '400', {
        carriedOverUnits: '20',
      }),
      ['400 requests, 170 of them counted, 100 included, 20 carried over', '50 × $0.00005'],
    ],
    [
      'beyond the limit, with units of packs',
      charge({ ...flat, limit: '10000', freeUnits: '100' }, '12000', { packUnits: '500' }),
      ['12,000 requests, 10,500 of them counted, 100 free, 500 from packs', '9,900 × $0.00005'],
    ],
    [
      'packages, of which one was only begun',
      charge({ ...flat, unitsPerPackage: '1000' }, '2001'),
      ['2,001 requests', '2,001 in packages of 1,000', '3,000 × $0.00005'],
    ],
    ['all at the price of one tier', charge(volume, '1001'), ['1,001 requests', '1,001 × $0.002']],
    [
      'another currency',
      charge(volume, '10', { conversion: { currency: 'EUR', unitsPerDollar: '0.9217' } }),
      ['10 requests', 'at 1 USD = 0.9217 EUR', '10 × €0.0027651'],
    ],
    [
      'a currency without smaller units',
      charge(volume, '10', { conversion: { currency: 'JPY', unitsPerDollar: '150' } }),
      ['10 requests', 'at 1 USD = 150 JPY', '10 × ¥0.45'],
    ],
  ])('%s', (_, of, texts) => {
    expect(linesOf(usageTexts(of))).toEqual(texts)
  })

  test.each<[string, LateUsageCharge, string[]]>([
    [
      'alone',
      late(flat, '10', '2.5'),
      ['2.5 requests recorded after the 10 that were billed', '2.5 × $0.00005'],
    ],
    [
      'with what it changes of the rest',
      late(volume, '999', '2'),
      ['2 requests recorded after the 999 that were billed', '-999 × $0.003', '1,001 × $0.002'],
    ],
  ])('explain late usage: %s', (_, of, texts) => {
    expect(linesOf(lateUsageTexts(of))).toEqual(texts)
  })
})

test('add up to the charged amount', () => {
  const units = fc.integer({ min: 0, max: 5_000 })
  const rate = fc.constantFrom('flat', 'graduated', 'volume')
  const size = fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined })
  fc.assert(
    fc.property(rate, units, units, units, size, (kind, used, more, free, unitsPerPackage) => {
      const terms: UsageTerms = {
        ...flat,
        freeUnits: String(free),
        rate: kind === 'flat' ? flat.rate : { kind, tiers },
        ...(unitsPerPackage === undefined ? {} : { unitsPerPackage: String(unitsPerPackage) }),
      }
      for (const of of [charge(terms, String(used)), late(terms, String(used), String(more))]) {
        const { prices } = of.kind === 'usage' ? usageTexts(of) : lateUsageTexts(of)
        const { numerator, denominator } = priceLine(of).exact
        expect(sumOf(prices) * denominator).toBe(numerator * 100_000n)
      }
    }),
  )
})

/** Returns the sum of quantities such as `-999` times unit prices such as `$0.003`, in 10^-5 cents. */
function sumOf(prices: readonly PriceTexts[]): bigint {
  return prices.reduce((sum, { quantity, unitPrice }) => {
    const decimals = unitPrice.replace('$0.', '').padEnd(7, '0')
    return sum + BigInt(quantity.replaceAll(',', '')) * BigInt(decimals)
  }, 0n)
}

describe('usage texts of charges', () => {
  const meter = { ...reading, meterName: 'tokens' }

  function priced(rate: ChargeRate, usedUnits: string, more: Partial<UsageCharge> = {}) {
    const terms = { limit: null, freeUnits: '0', rate }
    const conversion = { currency: 'EUR', unitsPerDollar: '0.92' }
    const counted = { terms, usedUnits, carriedOverUnits: '0', conversion, reading: meter }
    return { kind: 'usage', charge: 'tokens', ...counted, ...more } as const
  }

  const graduated: ChargeRate = {
    kind: 'priced_graduated',
    pricedIn: 'minor',
    tiers: [
      { upTo: '100', price: '0.0003', flatPrice: '250' },
      { upTo: null, price: '2' },
    ],
  }
  const matrix: ChargeRate = {
    kind: 'matrix',
    pricedIn: 'credits',
    rows: [{ when: { model: 'large' }, price: '0.5' }],
    price: '100',
  }

  test.each<[string, UsageCharge, string[]]>([
    [
      'tiers with a flat price, in money without an exchange rate',
      priced(graduated, '120'),
      ['120 tokens', '100 × €0.000003', '1 × €2.50', '20 × €0.02'],
    ],
    [
      'a matrix in credits',
      priced(matrix, '5', { rowUnits: ['2', '3'] }),
      ['5 tokens', 'at 1 USD = 0.92 EUR', '2 × €0.000046', '3 × €0.0092'],
    ],
    [
      'packages',
      {
        ...priced(graduated, '101'),
        terms: {
          limit: null,
          freeUnits: '0',
          unitsPerPackage: '50',
          rate: { ...graduated, tiers: [{ upTo: null, price: '30' }] },
        },
      },
      ['101 tokens', '101 in packages of 50', '3 × €0.30'],
    ],
  ])('show %s', (_, of, lines) => {
    expect(linesOf(usageTexts(of))).toEqual(lines)
  })

  test('show what late usage adds, with the flat price of a tier that it reaches', () => {
    const before = priced(graduated, '0')
    const late = { ...before, kind: 'late_usage', lateUnits: '10' } as const
    expect(lateUsageTexts(late).prices).toEqual([
      { quantity: '10', unitPrice: '€0.000003' },
      { quantity: '1', unitPrice: '€2.50' },
    ])
  })

  test('show what the rest of a period adds to the amount that was billed within it', () => {
    const before = priced(graduated, '0')
    const bill = { billedMinor: '123456', lateCarriedOverUnits: '-20', lateUnits: '10' }
    const rest = { ...before, ...bill, kind: 'late_usage', usedUnits: '1500' } as const
    expect(lateUsageTexts(rest).details).toEqual([
      '10 tokens after the 1,500 that were billed for €1,234.56',
      '-20 carried over since then',
    ])
  })
})
