import type { Queryable } from '@tollgate/platform/database/database'
import { lockCustomer } from '../customers/repository.ts'
import { findPlan } from '../catalog/plans-repository.ts'
import { lockProductAgainstRemoval } from '../catalog/products-repository.ts'
import { findDecidingPurchase } from '../purchases/repository.ts'
import { mayBoundCheckoutSell } from './bound-checkout.ts'
import type { CheckoutSession } from './checkout-sessions.ts'

type SellingWork = { readonly sql: Queryable; readonly providerId: string; readonly now: Date }

/**
 * Returns whether the checkout sells the plan to its customer now. Locks the same rows as the activation of a plan, in the same
 * order, so that the customer's purchase cannot change until the transaction ends.
 */
export async function mayCheckoutSell(
  { sql, providerId, now }: SellingWork,
  { mayChangePlan, customerRef, productRef }: CheckoutSession,
  planRef: string,
): Promise<boolean> {
  if (mayChangePlan || productRef === null) return true
  await lockProductAgainstRemoval(sql, providerId, productRef)
  await lockCustomer(sql, providerId, customerRef)
  const plan = await findPlan(sql, providerId, productRef, planRef)
  const last = await findDecidingPurchase(sql, providerId, customerRef, productRef)
  // Without a plan there is nothing to sell. The code that starts the plan reports its own error.
  return plan === undefined || mayBoundCheckoutSell(plan, last, now)
}
