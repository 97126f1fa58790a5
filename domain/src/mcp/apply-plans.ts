import { retirePlan } from '../deletion/delete-plan.ts'
import { readPlanContext } from '../catalog/plan-context.ts'
import { planObject } from '../catalog/plan-event.ts'
import type { Plan } from '../plans/plan.ts'
import { clearDefaultPlan, insertPlan, listPlans, updatePlan } from '../catalog/plans-repository.ts'
import { drawReference } from '../unit-of-work/draw-reference.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { decidePlans, plansByKey, type PlansRequest, type PlanStep } from './decide-plans.ts'
import type { PlanNames } from './decide-tools.ts'
import type { McpRefusal } from './refusal.ts'

/** The plans of a product whose row the caller has locked become what the request says. */
export async function applyPlans(
  work: UnitOfWork,
  productRef: string,
  request: PlansRequest,
  defaultCurrency: string,
): Promise<McpRefusal | undefined> {
  const existing = await listPlans(work.sql, work.providerId, [productRef])
  const context = await readPlanContext(work, defaultCurrency, existing)
  const decision = decidePlans(existing, request, context)
  if (decision.kind === 'refused') return decision
  // Plans that step back or go make room for others under their key, or as the default.
  await clearDefaultPlan(work.sql, work.providerId, productRef, '')
  for (const [index, step] of decision.steps.entries()) {
    await takeStep(work, productRef, step, index)
  }
  return undefined
}

/** Steps that retire plans come first. */
async function takeStep(
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
      // Its place as the default was cleared with everybody else's.
      if (step.plan.isDefault) await updatePlan(sql, providerId, step.plan)
      return
    case 'change': {
      const changed = { ...step.plan, updatedAt: now }
      await updatePlan(sql, providerId, changed)
      await recordEvent(work, 'plan.updated', planObject(changed))
      return
    }
    case 'create': {
      // Plans are listed in the order they were made: that of the request.
      const madeAt = new Date(now.getTime() + index)
      const times = { createdAt: madeAt, updatedAt: madeAt }
      const plan = { ...step.draft, reference: drawReference('plan'), productRef, ...times }
      await insertPlan(sql, providerId, plan)
      await recordEvent(work, 'plan.created', planObject(plan))
    }
  }
}

/** What the keys in a request about tools stand for, once the plans are settled. */
export function planNames(plans: readonly Plan[]): PlanNames {
  const byKey = [...plansByKey(plans)].map(([key, plan]) => [key, plan.reference] as const)
  const archived = plans.filter(({ status }) => status === 'archived')
  return {
    refByKey: new Map(byKey),
    archivedRefs: new Set(archived.map(({ reference }) => reference)),
  }
}
