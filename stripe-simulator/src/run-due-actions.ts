import { StripeApiError } from './errors.ts'
import { makeAvailable } from './objects/balance.ts'
import { settlePayment } from './objects/payment-intents.ts'
import { movePayout } from './objects/payouts.ts'
import type { Mode } from './store/records.ts'
import { endRefund } from './objects/refunds.ts'
import type { KeyValueStore } from './store/key-value-store.ts'
import { UnitOfWork, type DueAction } from './store/unit-of-work.ts'

/**
 * Executes due actions, oldest first, each with its own due time as the current time. An action and its removal are one commit, so
 * after a kill it is executed exactly once. Returns the number of actions.
 */
export function runDueActions(store: KeyValueStore, nowMs: number): number {
  for (let count = 0; ; count++) {
    const [entry] = store.range('due/', 'ascending')
    if (entry === undefined) return count
    const [key, text] = entry
    const dueMs = Number(key.split('/')[1])
    if (dueMs > nowMs) return count
    const { mode, action } = JSON.parse(text) as { mode: Mode; action: DueAction }
    const work = new UnitOfWork({ store, mode, nowMs: dueMs })
    try {
      runAction(work, action)
    } catch (error) {
      // The object has meanwhile reached another final state.
      if (!(error instanceof StripeApiError)) throw error
    }
    work.set(key, undefined)
    work.commit()
  }
}

function runAction(work: UnitOfWork, action: DueAction): void {
  switch (action.do) {
    case 'settle_payment':
      return settlePayment(work, action.id, action.isPaid)
    case 'end_refund':
      return void endRefund(work, action.id, action.status)
    case 'make_available':
      return makeAvailable(work, action.id)
    case 'move_payout':
      return void movePayout(work, action.id, action.status)
  }
}
