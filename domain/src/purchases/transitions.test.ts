import { describe, expect, test } from 'vitest'
import { purchaseStatuses, type PurchaseStatus } from '@tollgate/schemas/http/purchases'
import { canMove, purchaseTransitions, type PurchaseTrigger } from './transitions.ts'

/*
 * The table of purchase states of the wire contract, written a second time: from, trigger, to. "ending" is active with a pending
 * cancellation.
 */
type Row = readonly [from: string, on: PurchaseTrigger, to: PurchaseStatus]

const rows: readonly Row[] = [
  ['pending', 'paid', 'active'],
  ['suspended', 'paid', 'active'],
  ['trialing', 'trial-converted', 'active'],
  ['trialing', 'trial-ended-free', 'active'],
  ['trialing', 'trial-unpaid', 'suspended'],
  ['trialing ending', 'trial-unpaid', 'suspended'],
  ['active', 'renewed', 'active'],
  ['past_due', 'renewed', 'active'],
  ['active', 'renewal-failed', 'past_due'],
  // A purchase cancelled too late for its notice renews once more.
  ['active ending', 'renewed', 'active'],
  ['active ending', 'renewal-failed', 'past_due'],
  ['past_due', 'debt-paid', 'active'],
  ['past_due', 'retries-spent', 'suspended'],
  ['active', 'charged-back', 'suspended'],
  ['active ending', 'charged-back', 'suspended'],
  ['past_due', 'charged-back', 'suspended'],
  ['suspended', 'dispute-won', 'active'],
  ['active', 'cancellation-scheduled', 'active'],
  ['trialing', 'cancellation-scheduled', 'trialing'],
  ['active ending', 'reactivated', 'active'],
  ['trialing ending', 'reactivated', 'trialing'],
  ...[
    'pending',
    'active',
    'active ending',
    'trialing',
    'trialing ending',
    'past_due',
    'suspended',
  ].flatMap((from): Row[] => [
    [from, 'cancelled', 'cancelled'],
    [from, 'expired', 'expired'],
    [from, 'refunded', 'refunded'],
  ]),
  ['cancelled', 'refunded', 'refunded'],
  ['expired', 'refunded', 'refunded'],
  ['expired', 'restored', 'active'],
]

const states = purchaseStatuses.flatMap((status) =>
  status === 'active' || status === 'trialing' ? [status, `${status} ending`] : [status],
)
const triggers = Object.keys(purchaseTransitions) as PurchaseTrigger[]

describe('canMove', () => {
  test.each(states)(
    'allows exactly the specified transitions of a purchase that is %s',
    (state) => {
      for (const trigger of triggers) {
        const row = rows.find(([from, on]) => from === state && on === trigger)
        const [status, ending] = state.split(' ') as [PurchaseStatus, string | undefined]
        const purchase = { status, cancelledAt: ending === undefined ? null : new Date(0) }
        expect(canMove(purchase, trigger), `${state}, ${trigger}`).toBe(row !== undefined)
        if (row !== undefined)
          expect(purchaseTransitions[trigger].to ?? status, trigger).toBe(row[2])
      }
    },
  )
})
