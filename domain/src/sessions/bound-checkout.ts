import { isPack } from '../packs/pack-terms.ts'
import { requiresPayment, type PlanCosts } from '../plans/plan.ts'
import { givesAccess } from '../purchases/access.ts'
import type { Purchase } from '../purchases/repository.ts'

/**
 * Returns whether a checkout that is not allowed to change plans sells this plan to a customer whose deciding purchase of the
 * product is `last`. Such a link was issued with a key that cannot manage purchases, so its holder must not end a purchase. The
 * exception is the upgrade from a plan that never charges to one that is paid in advance: the customer loses nothing that was paid
 * for.
 */
export function mayBoundCheckoutSell(
  plan: PlanCosts & { readonly reference: string },
  last: Pick<Purchase, 'planRef' | 'planSnapshot' | 'status' | 'endDate'> | undefined,
  now: Date,
): boolean {
  // A pack ends no purchase.
  if (last === undefined || last.planRef === plan.reference || isPack(plan)) return true
  if (!givesAccess(last, now) && last.status !== 'suspended') return true
  const replaced = last.planSnapshot
  const isFree = replaced?.type === 'recurring' && !requiresPayment(replaced)
  return isFree && requiresPayment(plan) && plan.type !== 'usage-based'
}
