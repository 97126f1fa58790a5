import { StripeApiError } from './errors.ts'
import { makeAvailable } from './objects/balance.ts'
import { settlePayment } from './objects/payment-intents.ts'
import { movePayout } from './objects/payouts.ts'
import type { Mode } from './store/records.ts'
import { endRefund } from './objects/refunds.ts'
import type { Pages } from './store/pages.ts'
import { World, type DueAction } from './store/world.ts'

/**
 * Executes due actions, oldest first, each with its own due time as the current time. An action and its removal are one commit, so
 * after a kill it is executed exactly once. Returns the number of actions.
 */
export function runDue(pages: Pages, nowMs: number): number {
  for (let count = 0; ; count++) {
    const [entry] = pages.range('due/', 'ascending')
    if (entry === undefined) return count
    const [key, text] = entry
    const dueMs = Number(key.split('/')[1])
    if (dueMs > nowMs) return count
    const { mode, action } = JSON.parse(text) as { mode: Mode; action: DueAction }
    const world = new World({ pages, mode, nowMs: dueMs })
    try {
      act(world, action)
    } catch (error) {
      // The object has meanwhile reached another final state.
      if (!(error instanceof StripeApiError)) throw error
    }
    world.set(key, undefined)
    world.commit()
  }
}

function act(world: World, action: DueAction): void {
  switch (action.do) {
    case 'settle_payment':
      return settlePayment(world, action.id, action.isPaid)
    case 'end_refund':
      return void endRefund(world, action.id, action.status)
    case 'make_available':
      return makeAvailable(world, action.id)
    case 'move_payout':
      return void movePayout(world, action.id, action.status)
  }
}
