import { isDeepStrictEqual } from 'node:util'
import type { PlanUpdateInput } from '@tollgate/schemas/http/plans'
import { lockProduct } from './products-repository.ts'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { SavePlanOutcome } from './create-plan.ts'
import { revisePlan } from './draft-plan.ts'
import { readPlanContext } from './plan-context.ts'
import { planObject } from './plan-event.ts'
import type { Plan } from '../plans/plan.ts'
import { clearDefaultPlan, findPlan, updatePlan } from './plans-repository.ts'

/**
 * Changes a plan of a product. Existing purchases are not affected, because they keep the plan snapshot from their
 * start.
 */
export async function changePlan(
  work: UnitOfWork,
  productRef: string,
  reference: string,
  input: PlanUpdateInput,
  defaultCurrency: string,
): Promise<SavePlanOutcome> {
  const { sql, providerId } = work
  const product = await lockProduct(sql, providerId, productRef)
  if (product === undefined) return { kind: 'product-not-found' }
  const plan = await findPlan(sql, providerId, productRef, reference)
  if (plan === undefined) return { kind: 'plan-not-found' }
  const context = await readPlanContext(work, defaultCurrency, [plan], [input])
  const decision = revisePlan(plan, input, context)
  if (decision.kind === 'refused') return decision
  const changed: Plan = {
    ...plan,
    ...decision.plan,
    // An archived plan cannot be the default plan, and its key becomes available to other plans.
    key: decision.plan.status === 'archived' ? null : decision.plan.key,
    isDefault: decision.plan.isDefault && decision.plan.status !== 'archived',
  }
  if (isDeepStrictEqual(changed, plan)) return { kind: 'plan', plan }
  const updated: Plan = { ...changed, updatedAt: work.now }
  if (updated.isDefault) await clearDefaultPlan(sql, providerId, productRef, reference)
  await updatePlan(sql, providerId, updated)
  const isArchivedNow = updated.status === 'archived' && plan.status !== 'archived'
  await recordEvent(work, isArchivedNow ? 'plan.archived' : 'plan.updated', planObject(updated))
  await queuePublication(work, 'offer', productRef)
  return { kind: 'plan', plan: updated }
}
