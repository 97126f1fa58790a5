import { listTools } from '../catalog/mcp-servers-repository.ts'
import { retireToolMeters } from '../catalog/tool-meters.ts'
import { planObject } from '../catalog/plan-event.ts'
import { revokeProductTokens } from '../customer-auth/access-tokens.ts'
import { listPlans, markPlanRemoved } from '../catalog/plans-repository.ts'
import { hasStatusWithAccess } from '../purchases/access.ts'
import { endNow } from '../purchases/move-purchase.ts'
import { listPurchases, lockPurchase, statusesWithAccess } from '../purchases/repository.ts'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { productObject } from '../catalog/product-event.ts'
import { lockProduct, markProductRemoved, updateProduct } from '../catalog/products-repository.ts'

export type ProductRemoval = 'deleted' | 'deactivated' | 'soft_deleted'

/**
 * Removes a product. A sandbox product is removed and its purchases end. A live product that was purchased is only
 * deactivated, because paid access continues. Any other live product is hidden. Returns undefined if there is no such
 * product.
 */
export async function deleteProduct(
  work: UnitOfWork,
  reference: string,
): Promise<ProductRemoval | undefined> {
  const { sql, providerId } = work
  const product = await lockProduct(sql, providerId, reference)
  if (product === undefined) return undefined
  const removal = await decideRemoval(work, reference)
  if (removal === 'deactivated') {
    // A repeated request gives the same result and emits no event.
    if (product.status === 'inactive') return removal
    const inactive = { ...product, status: 'inactive' as const, updatedAt: work.now }
    await updateProduct(sql, providerId, inactive)
    await recordEvent(work, 'product.archived', productObject(inactive))
  } else {
    await removePlans(work, reference)
    await endPurchases(work, reference)
    await markProductRemoved(sql, providerId, reference, work.now)
    await revokeProductTokens(sql, providerId, reference, work.now)
    const tools = await listTools(sql, providerId, reference)
    await retireToolMeters(
      work,
      tools.map(({ name }) => name),
    )
    await recordEvent(work, 'product.archived', productObject({ ...product, status: 'inactive' }))
  }
  await queuePublication(work, 'offer', reference)
  return removal
}

async function decideRemoval(work: UnitOfWork, productRef: string): Promise<ProductRemoval> {
  if (work.environment === 'sandbox') return 'deleted'
  const purchases = await listPurchases(work.sql, work.providerId, { productRef, rowsMax: 1 })
  return purchases.length > 0 ? 'deactivated' : 'soft_deleted'
}

async function removePlans(work: UnitOfWork, productRef: string): Promise<void> {
  for (const plan of await listPlans(work.sql, work.providerId, [productRef])) {
    await markPlanRemoved(work.sql, work.providerId, plan.reference, work.now)
    if (plan.status === 'archived') continue
    await recordEvent(work, 'plan.archived', planObject({ ...plan, status: 'archived' }))
  }
}

/** Purchases are read in pages, because a sandbox product may have been tested with many customers. */
const purchasesPerPage = 500

async function endPurchases(work: UnitOfWork, productRef: string): Promise<void> {
  const filter = { productRef, statuses: statusesWithAccess, rowsMax: purchasesPerPage }
  for (;;) {
    const purchases = await listPurchases(work.sql, work.providerId, filter)
    if (purchases.length === 0) return
    for (const { reference } of purchases) {
      const purchase = await lockPurchase(work.sql, work.providerId, reference)
      if (purchase !== undefined && hasStatusWithAccess(purchase))
        await endNow(work, purchase, 'expired')
    }
  }
}
