import type { Queryable } from '@tollgate/platform/database/database'
import type { PlanUpdateInput } from '@tollgate/schemas/http/plans'
import { revisePlan, type PlanRefusal } from '../catalog/draft-plan.ts'
import { readPlanContextUnlocked } from '../catalog/plan-context.ts'
import type { Plan } from '../plans/plan.ts'

export type UnsavedPlan = { readonly kind: 'accepted'; readonly plan: Plan } | PlanRefusal

/** Returns the plan as the update would make it, or why the update would be refused. Nothing is saved. */
export async function reviseUnsaved(
  of: { readonly sql: Queryable; readonly providerId: string },
  plan: Plan,
  input: PlanUpdateInput,
  defaultCurrency: string,
): Promise<UnsavedPlan> {
  const context = await readPlanContextUnlocked(of, defaultCurrency, [plan], [input])
  const decision = revisePlan(plan, input, context)
  if (decision.kind === 'refused') return decision
  return { kind: 'accepted', plan: { ...plan, ...decision.plan } }
}
