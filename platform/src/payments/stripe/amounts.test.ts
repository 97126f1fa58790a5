import type Stripe from 'stripe'
import { expect, test } from 'vitest'
import { chargeFrom } from './from-stripe.ts'
import { changeParams, paymentIntentParams, refundParams } from './to-stripe.ts'

/* Tests amounts sent to Stripe, which counts some currencies in other units than we do. */

test.each([
  ['USD', 1_234n, 1_234],
  ['JPY', 500n, 500],
  ['KWD', 512n, 5_120],
  ['UGX', 1_500n, 150_000],
  ['ISK', 50_000n, 50_000],
])('%s: sends %i minor units as %i', (currency, amountMinor, told) => {
  const words = { amountMinor, currency, metadata: {} }
  expect(paymentIntentParams({ ...words, customerId: 'cus_1' }).amount).toBe(told)
  expect(changeParams(words).amount).toBe(told)
  expect(refundParams({ ...words, paymentIntentId: 'pi_1' }).amount).toBe(told)
})

test('keeps amount, fee and net consistent if a fee is finer than our minor units', () => {
  const movement = { amount: 15_120, fee: 473, net: 14_647, currency: 'kwd' }
  const charge = {
    ...{ id: 'ch_1', status: 'succeeded', created: 0, currency: 'kwd' },
    ...{ amount: 15_120, amount_refunded: 5_120, customer: null, payment_intent: null },
    balance_transaction: movement,
  } as unknown as Stripe.Charge
  expect(chargeFrom(charge)).toMatchObject({
    amountMinor: 1_512n,
    refundedMinor: 512n,
    settlement: {
      amountMinor: 1_512n,
      feeMinor: 47n,
      netMinor: 1_465n,
      restUnits: -3n,
      currency: 'KWD',
    },
  })
})
