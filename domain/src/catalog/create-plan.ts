import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import { lockProduct } from './products-repository.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { draftPlan, type PlanRefusal } from './draft-plan.ts'
import { readPlanContext } from './plan-context.ts'
import { planObject } from './plan-event.ts'
import type { Plan } from '../plans/plan.ts'
import { clearDefaultPlan, insertPlan } from './plans-repository.ts'

export type SavePlanOutcome =
  | { readonly kind: 'plan'; readonly plan: Plan }
  | { readonly kind: 'product-not-found' }
  | { readonly kind: 'plan-not-found' }
  | PlanRefusal

export async function createPlan(
  work: UnitOfWork,
  productRef: string,
  input: PlanCreateInput,
  defaultCurrency: string,
): Promise<SavePlanOutcome> {
  const { sql, providerId, now } = work
  const product = await lockProduct(sql, providerId, productRef)
  if (product === undefined) return { kind: 'product-not-found' }
  const decision = draftPlan(input, await readPlanContext(work, defaultCurrency, [], [input]))
  if (decision.kind === 'refused') return decision
  const plan: Plan = {
    ...decision.plan,
    reference: generateReference('plan'),
    productRef,
    createdAt: now,
    updatedAt: now,
  }
  if (plan.isDefault) await clearDefaultPlan(sql, providerId, productRef, plan.reference)
  await insertPlan(sql, providerId, plan)
  await recordEvent(work, 'plan.created', planObject(plan))
  await queuePublication(work, 'offer', productRef)
  return { kind: 'plan', plan }
}
