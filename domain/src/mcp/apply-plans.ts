import { retirePlan } from '../deletion/delete-plan.ts'
import { readPlanContext } from '../catalog/plan-context.ts'
import { planObject } from '../catalog/plan-event.ts'
import type { Plan } from '../plans/plan.ts'
import { clearDefaultPlan, insertPlan, listPlans, updatePlan } from '../catalog/plans-repository.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { decidePlans, plansByKey, type PlansRequest, type PlanStep } from './decide-plans.ts'
import type { PlanNames } from './decide-tools.ts'
import type { McpRefusal } from './refusal.ts'

/** Changes the plans of a product to those of the request. The caller has locked the product's row. */
export async function applyPlans(
  work: UnitOfWork,
  productRef: string,
  request: PlansRequest,
  defaultCurrency: string,
): Promise<McpRefusal | undefined> {
  const existing = await listPlans(work.sql, work.providerId, [productRef])
  const context = await readPlanContext(work, defaultCurrency, existing, request.inputs)
  const decision = decidePlans(existing, request, context)
  if (decision.kind === 'refused') return decision
  // Cleared first, so that a key or the default flag of a changed or retired plan is free for another plan.
  await clearDefaultPlan(work.sql, work.providerId, productRef, '')
  for (const [index, step] of decision.steps.entries()) {
    await applyStep(work, productRef, step, index)
  }
  return undefined
}

/** Applies one step. The steps that retire plans come first. */
async function applyStep(
  work: UnitOfWork,
  productRef: string,
  step: PlanStep,
  index: number,
): Promise<void> {
  const { sql, providerId, now } = work
  switch (step.kind) {
    case 'retire':
      await retirePlan(work, step.plan)
      return
    case 'keep':
      // `applyPlans` has cleared the flag of every default plan, so it is set again here.
      if (step.plan.isDefault) await updatePlan(sql, providerId, step.plan)
      return
    case 'change': {
      const changed = { ...step.plan, updatedAt: now }
      await updatePlan(sql, providerId, changed)
      await recordEvent(work, 'plan.updated', planObject(changed))
      return
    }
    case 'create': {
      // Plans are listed by their creation time. The added milliseconds keep the order of the request.
      const madeAt = new Date(now.getTime() + index)
      const times = { createdAt: madeAt, updatedAt: madeAt }
      const plan = { ...step.draft, reference: generateReference('plan'), productRef, ...times }
      await insertPlan(sql, providerId, plan)
      await recordEvent(work, 'plan.created', planObject(plan))
    }
  }
}

/** Returns the plans that the keys in a request about tools refer to. Call this after the plans were applied. */
export function planNames(plans: readonly Plan[]): PlanNames {
  const byKey = [...plansByKey(plans)].map(([key, plan]) => [key, plan.reference] as const)
  const archived = plans.filter(({ status }) => status === 'archived')
  return {
    refByKey: new Map(byKey),
    archivedRefs: new Set(archived.map(({ reference }) => reference)),
  }
}
