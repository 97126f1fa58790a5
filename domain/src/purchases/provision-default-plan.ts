import { lockCustomer } from '../customers/repository.ts'
import type { CycleMode } from '../periods/periods.ts'
import type { Plan } from '../plans/plan.ts'
import { lockAndCheckSoldOut } from '../plans/sold-out.ts'
import { listPlans } from '../catalog/plans-repository.ts'
import { lockProductAgainstRemoval } from '../catalog/products-repository.ts'
import type { Customer } from '../customers/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { createPurchase } from './create-purchase.ts'
import { decideProvision } from './decide-provision.ts'
import { linkToPredecessor } from './link-to-predecessor.ts'
import { newUnpaidPurchase } from './new-purchase.ts'
import { readProvisionState } from './read-provision-state.ts'
import type { Purchase } from './repository.ts'
import { endLapsedPurchase } from './end-lapsed-purchase.ts'

export type ProvisionOutcome =
  | { readonly kind: 'purchase'; readonly purchase: Purchase }
  | { readonly kind: 'no-purchase'; readonly awaitingPlan: Plan | undefined }
  | { readonly kind: 'product-not-found' }

/**
 * Returns the customer's purchase of the product. If there is none and the product's default plan is free, one is created. The
 * customer's row is locked: of concurrent calls the first creates the purchase and the others find it. The unique index on
 * purchases with access is a second safeguard.
 */
export async function provisionDefaultPlan(
  work: UnitOfWork,
  customer: Customer,
  productRef: string,
  cycleMode: CycleMode,
): Promise<ProvisionOutcome> {
  const { sql, providerId, now } = work
  const product = await lockProductAgainstRemoval(sql, providerId, productRef)
  if (product === undefined) return { kind: 'product-not-found' }
  // The customer was deleted meanwhile and gets no purchase.
  if ((await lockCustomer(sql, providerId, customer.reference)) === undefined) {
    return { kind: 'no-purchase', awaitingPlan: undefined }
  }
  const plans = await listPlans(sql, providerId, [productRef])
  const query = { customerRef: customer.reference, productRef, plans, now }
  const state = await readProvisionState(sql, providerId, query)
  const decision = decideProvision({ product, plans, ...state, now })
  switch (decision.kind) {
    case 'has-access':
      return { kind: 'purchase', purchase: decision.purchase }
    case 'no-purchase':
      return decision
    case 'enrol': {
      const { plan } = decision
      if (await lockAndCheckSoldOut(sql, providerId, plan, customer.reference)) {
        return { kind: 'no-purchase', awaitingPlan: undefined }
      }
      if (state.last !== undefined) await endLapsedPurchase(work, state.last.reference)
      const given = { customer, product, plan, cycleMode, now } as const
      const started = newUnpaidPurchase({ ...given, origin: 'free_default' })
      const predecessor = { previous: state.last, replaced: undefined }
      const purchase = await linkToPredecessor(work, started, predecessor, false)
      await createPurchase(work, purchase)
      return { kind: 'purchase', purchase }
    }
  }
}
