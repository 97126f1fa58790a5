import { findCustomer, listReferences, type Customer } from '@tollgate/domain/customers/repository'
import { purchasePeriodAt } from '@tollgate/domain/entitlements/compile-entitlement'
import { answerLimitCheck, isDenied } from '@tollgate/domain/entitlements/limit-answer'
import { answerWithoutPurchase } from '@tollgate/domain/entitlements/no-purchase-answer'
import { unixSecond } from '@tollgate/domain/periods/periods'
import { planOffer } from '@tollgate/domain/plans/plan-offer'
import { isAutoEnrolled } from '@tollgate/domain/plans/plan'
import { listPlans } from '@tollgate/domain/plans/repository'
import { offerOf } from '@tollgate/domain/products/offer'
import { findProduct, type Product } from '@tollgate/domain/products/repository'
import { findProvider } from '@tollgate/domain/providers/repository'
import { publish } from '@tollgate/domain/publications/publisher'
import { givesAccess } from '@tollgate/domain/purchases/access'
import { entitlementOf } from '@tollgate/domain/purchases/entitlement-of'
import {
  provisionDefaultPlan,
  type ProvisionOutcome,
} from '@tollgate/domain/purchases/provision-default-plan'
import { findDecidingPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { LimitsRequest, LimitsResponse } from '@tollgate/schemas/http/limits'
import { refusals } from '../errors.ts'
import type { AppParts } from '../http/app-parts.ts'
import { commit } from '../http/commit.ts'
import { isPublished } from './is-published.ts'
import { readUsedMicros, waitForCounters } from './read-counters.ts'

/**
 * The whole limit check, for whatever the data plane cannot answer from what was published: first calls, customers
 * without a purchase, purchases that ended, and entries that were lost or that nobody renewed for a long time. It
 * leaves the entries published, so the next check of the same kind is answered in the data plane.
 */
export async function checkLimit(
  parts: AppParts,
  operation: Operation,
  request: LimitsRequest,
): Promise<LimitsResponse> {
  const { providerId, environment } = operation
  const pool = parts.database.in(environment)
  const customer = await findCustomer(pool, providerId, request.customerRef)
  if (customer === undefined) throw refusals.customerNotFound(request.customerRef)
  const product = await findProduct(pool, providerId, request.productRef)
  if (product === undefined) throw refusals.productNotFound(request.productRef)

  const found = await findOrProvision(parts, operation, customer, product)
  switch (found.kind) {
    case 'purchase':
      return answerFor(parts, operation, product, found.purchase)
    case 'no-purchase': {
      const { defaultPlan } = found
      const isAwaited = defaultPlan !== undefined && !isAutoEnrolled(defaultPlan)
      return answerWithoutPurchase({
        offer: offerOf(found.product, found.plans),
        awaitingPlan: isAwaited ? planOffer(defaultPlan) : undefined,
        creditBalance: noCredits,
      })
    }
    case 'product-not-found':
      throw refusals.productNotFound(request.productRef)
  }
}

/** There are no wallets yet, so every balance is zero. */
const noCredits = 0n

/** Reads first, because most customers have a purchase already, and a read locks nothing. */
async function findOrProvision(
  parts: AppParts,
  operation: Operation,
  customer: Customer,
  product: Product,
): Promise<ProvisionOutcome> {
  const { providerId, environment, now } = operation
  const pool = parts.database.in(environment)
  const { reference } = customer
  const purchase = await findDecidingPurchase(pool, providerId, reference, product.reference)
  if (purchase !== undefined && givesAccess(purchase, now)) return { kind: 'purchase', purchase }
  const provider = await findProvider(parts.database.control, providerId)
  const cycleMode = provider?.cycleMode ?? 'calendar'
  return commit(parts, operation, (work) =>
    provisionDefaultPlan(work, customer, product.reference, cycleMode),
  )
}

async function answerFor(
  parts: AppParts,
  operation: Operation,
  product: Product,
  purchase: Purchase,
): Promise<LimitsResponse> {
  const { providerId, environment, now } = operation
  const pool = parts.database.in(environment)
  const customerRefs = await listReferences(pool, providerId, purchase.customerRef)
  const entitlement = entitlementOf(purchase, customerRefs, now)
  if (entitlement === undefined || purchase.planSnapshot === null) {
    throw new Error(`purchase ${purchase.reference} gives access without a plan`)
  }
  const period = purchasePeriodAt(purchase, purchase.planSnapshot, now)
  const counted = {
    purchaseRef: purchase.reference,
    productRef: product.reference,
    customerRefs,
    periodStartSecond: unixSecond(period.start),
  }
  // Counters are kept for published periods only; publishing folds in what was counted before.
  if (!(await isPublished(parts, environment, providerId, counted))) {
    const target = { kind: 'customer', providerId, target: purchase.customerRef } as const
    await publish(parts, environment, target, 'always')
  }
  if (!(await waitForCounters(parts, environment, providerId, customerRefs))) {
    throw refusals.countersBehind()
  }
  const usedMicros = await readUsedMicros(parts, environment, providerId, counted)
  const check = { entitlement, usedMicros, creditBalance: noCredits }
  if (!isDenied(check)) return answerLimitCheck({ ...check, offer: undefined })
  const plans = await listPlans(pool, providerId, [product.reference])
  return answerLimitCheck({ ...check, offer: offerOf(product, plans) })
}
