import type Stripe from 'stripe'
import { expect, test } from 'vitest'
import { disputeFrom } from './from-stripe.ts'

function movement(id: string, created: number, amount: number): Partial<Stripe.BalanceTransaction> {
  return { id, created, amount, currency: 'usd', fee: 0, net: amount }
}

test('sorts the balance movements of a dispute, the oldest first', () => {
  const dispute = {
    id: 'dp_1',
    status: 'won',
    amount: 2_000,
    currency: 'usd',
    reason: 'general',
    charge: 'ch_1',
    payment_intent: 'pi_1',
    created: 1_760_000_000,
    balance_transactions: [
      movement('txn_back', 1_760_000_020, 2_000),
      movement('txn_taken', 1_760_000_010, -2_000),
      movement('txn_taken_again', 1_760_000_030, -2_000),
    ],
  } as Stripe.Dispute

  const ids = disputeFrom(dispute).movements.map(({ id }) => id)

  expect(ids).toEqual(['txn_taken', 'txn_back', 'txn_taken_again'])
})
