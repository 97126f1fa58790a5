import { describe, expect, test } from 'vitest'
import { decideRequestedTopUpTerms, decideTopUpTerms } from './decide-terms.ts'

const rates: Readonly<Record<string, string>> = { USD: '1', HUF: '360' }

function requested(amountMinor: bigint | undefined, currency = 'USD') {
  const source = currency === 'USD' ? 'parity' : 'fallback'
  const rate = { currency, unitsPerDollar: rates[currency] ?? '1', source } as const
  const payment = { amountMinor, currency, supportedCurrencies: Object.keys(rates) }
  return { payment, rate }
}

describe('decideRequestedTopUpTerms', () => {
  test.each<[bigint | undefined, string, string]>([
    [undefined, 'USD', 'amount is required for a credit top-up'],
    [0n, 'USD', 'The amount must be at least 0.50 USD'],
    [99n, 'USD', 'The amount must be at least 1.00 USD'],
    [10_000_001n, 'USD', 'The amount must not exceed 100000.00 USD'],
    [100_000_000n, 'USD', 'The amount must not exceed 999999.99 USD'],
    [17_499n, 'HUF', 'The amount must be at least 175.00 HUF'],
    [1_000n, 'SEK', 'Currency SEK is not supported. Available: USD, HUF'],
  ])('refuses a top-up of %s %s', (amountMinor, currency, reason) => {
    const { payment, rate } = requested(amountMinor, currency)
    expect(decideRequestedTopUpTerms(payment, rate)).toEqual({ kind: 'refuse', reason })
  })

  test.each([100n, 10_000_000n])('charges a top-up of %s, both bounds included', (amountMinor) => {
    const { payment, rate } = requested(amountMinor)
    expect(decideRequestedTopUpTerms(payment, rate)).toMatchObject({
      kind: 'charge',
      terms: { originalAmountMinor: amountMinor, credits: amountMinor * 100n },
    })
  })
})

test('allows automatic top-ups down to the processor minimum', () => {
  const { payment, rate } = requested(50n)
  expect(decideTopUpTerms(payment, rate)).toMatchObject({ kind: 'charge' })
})
