import { describe, expect, test } from 'vitest'
import { nextPollAt } from './poll-schedule.ts'
import type { PaymentIntent } from './payment-intent.ts'

const madeAt = new Date('2026-03-01T00:00:00Z')
const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** A payment of an invoice, which does not expire. */
const open = {
  status: 'requires_payment_method',
  cancelWanted: false,
  refundWanted: false,
  settlementWanted: false,
  expiresAt: madeAt,
  createdAt: madeAt,
  succeededAt: null,
  nextLookAt: null,
} as const satisfies Partial<PaymentIntent>

/** Returns the minutes between two checks of a payment. */
function pauseAfter(change: Partial<PaymentIntent>, ageMs: number): number {
  const now = new Date(madeAt.getTime() + ageMs)
  const at = nextPollAt({ ...open, ...change } as PaymentIntent, now)
  return (at!.getTime() - now.getTime()) / 60_000
}

describe('nextPollAt', () => {
  const ages = [
    [1, 0],
    [1, hourMs - 1],
    [10, hourMs],
    [10, dayMs - 1],
    [60, dayMs],
    [60, 7 * dayMs - 1],
    [24 * 60, 7 * dayMs],
    [24 * 60, 400 * dayMs],
  ] as const

  test.each(ages)('polls every %i minutes once the payment is %i ms old', (minutes, ageMs) => {
    expect(pauseAfter({}, ageMs)).toBe(minutes)
    const paid = { status: 'succeeded', settlementWanted: true, succeededAt: madeAt } as const
    expect(pauseAfter(paid, ageMs)).toBe(minutes)
    expect(pauseAfter({ status: 'processing', cancelWanted: true }, ageMs)).toBe(minutes)
  })
})

test('polls a payment that is to be canceled every minute, however old it is', () => {
  expect(pauseAfter({ cancelWanted: true }, 400 * dayMs)).toBe(1)
})
