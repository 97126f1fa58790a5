import { removePlanFromTools } from '../catalog/mcp-servers-repository.ts'
import { isPlanScheduled } from '../purchases/purchase-fields-repository.ts'
import { listPurchases, statusesWithAccess } from '../purchases/repository.ts'
import { lockProduct } from '../catalog/products-repository.ts'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { planObject } from '../catalog/plan-event.ts'
import type { Plan } from '../plans/plan.ts'
import { findPlan, markPlanRemoved, updatePlan } from '../catalog/plans-repository.ts'

/**
 * Removes the plan from its product. A plan that customers still have is archived instead, so that it can still be
 * read. Returns undefined if there is no such plan.
 */
export async function deletePlan(
  work: UnitOfWork,
  productRef: string,
  reference: string,
): Promise<Plan | undefined> {
  const { sql, providerId } = work
  await lockProduct(sql, providerId, productRef)
  const plan = await findPlan(sql, providerId, productRef, reference)
  if (plan === undefined) return undefined
  const archived = await retirePlan(work, plan)
  await queuePublication(work, 'offer', productRef)
  return archived
}

/**
 * Archives or removes the plan. The caller has locked the product and publishes its offer. Customers with the plan keep
 * its tools.
 */
export async function retirePlan(work: UnitOfWork, plan: Plan): Promise<Plan> {
  const { sql, providerId, now } = work
  const { productRef, reference } = plan
  const archived: Plan = {
    ...plan,
    key: null,
    status: 'archived',
    isDefault: false,
    updatedAt: now,
  }
  await updatePlan(sql, providerId, archived)
  if (!(await isPlanInUse(work, productRef, reference))) {
    await markPlanRemoved(sql, providerId, reference, now)
    await removePlanFromTools(sql, providerId, productRef, reference)
  }
  if (plan.status !== 'archived') await recordEvent(work, 'plan.archived', planObject(archived))
  return archived
}

async function isPlanInUse(
  work: UnitOfWork,
  productRef: string,
  planRef: string,
): Promise<boolean> {
  const filter = { productRef, planRef, statuses: statusesWithAccess, rowsMax: 1 }
  const purchases = await listPurchases(work.sql, work.providerId, filter)
  return (
    purchases.length > 0 || (await isPlanScheduled(work.sql, work.providerId, productRef, planRef))
  )
}
