import { requiresPayment, type PlanCosts } from '../plans/plan.ts'
import { givesAccess } from '../purchases/access.ts'
import type { Purchase } from '../purchases/repository.ts'

/**
 * Whether a checkout that may not change plans sells this plan to a customer whose deciding purchase of the product is
 * `last`. Such a link was issued with a key that may not manage purchases, so whoever holds it must not end one. The
 * exception is the upgrade from a plan that never charges to one that is paid for first: the customer loses nothing paid.
 */
export function sellsOnBoundCheckout(
  plan: PlanCosts & { readonly reference: string },
  last: Pick<Purchase, 'planRef' | 'planSnapshot' | 'status' | 'endDate'> | undefined,
  now: Date,
): boolean {
  if (last === undefined || last.planRef === plan.reference) return true
  if (!givesAccess(last, now) && last.status !== 'suspended') return true
  const replaced = last.planSnapshot
  const isFree = replaced?.type === 'recurring' && !requiresPayment(replaced)
  return isFree && requiresPayment(plan) && plan.type !== 'usage-based'
}
