import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
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
