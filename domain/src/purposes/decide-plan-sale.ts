import { isPack } from '../packs/pack-terms.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { packAloneReason, soldOutReason } from '../purchases/decide-activation.ts'
import { isPaidFor } from '../purchases/access.ts'
import { boundByNoticeUntil } from '../purchases/notice.ts'
import type { Purchase } from '../purchases/repository.ts'
import { undeliverable, type Undeliverable } from './payment-handler.ts'

export type PlanSaleFacts = {
  /** The plan that was paid for. */
  readonly plan: PlanSnapshot
  /** The customer's purchase of the product that gives access now; undefined if there is none. */
  readonly held: Purchase | undefined
  readonly buysCredits: boolean
  /** Discounts left nothing to pay. */
  readonly isForNothing: boolean
  readonly isSoldOut: boolean
  /** The checkout is not allowed to end another plan, and the customer has started one since. */
  readonly isForbiddenByCheckout: boolean
  readonly now: Date
}

export type PlanSaleDecision =
  /** The plan begins and replaces `held`. */
  | { readonly kind: 'begin' }
  /** The customer already has the plan and buys more credits for it. */
  | { readonly kind: 'add-credits'; readonly held: Purchase }
  /** The pack stands beside `held`. */
  | { readonly kind: 'add-pack' }
  | Undeliverable

/** Decides what a payment for a plan delivers. Everything may have changed since the payment was created. */
export function decidePlanSale(facts: PlanSaleFacts): PlanSaleDecision {
  const { plan, held, now } = facts
  if (held !== undefined && held.planRef === plan.reference) {
    if (facts.buysCredits) return { kind: 'add-credits', held }
    if (isPaidFor(held)) return undeliverable('The plan was paid already')
    // A plan that does not renew can be bought again, but not without limit.
    if (facts.isForNothing) return undeliverable('The customer has the plan already')
  }
  if (facts.isSoldOut) return undeliverable(soldOutReason)
  if (isPack(plan))
    return held === undefined ? undeliverable(packAloneReason) : { kind: 'add-pack' }
  if (facts.isForbiddenByCheckout) return undeliverable('The checkout may not end another plan')
  if (held !== undefined && boundByNoticeUntil(held, plan, now) !== undefined) {
    return undeliverable('The plan before is held by its notice')
  }
  return { kind: 'begin' }
}
