import { isDeepStrictEqual } from 'node:util'
import type { McpPlanInput } from '@tollgate/schemas/http/mcp'
import { draftPlan, revisePlan, type PlanContext, type PlanDraft } from '../catalog/draft-plan.ts'
import { mayBeDefault, requiresPayment, type Plan, type PlanTerms } from '../plans/plan.ts'
import { findTwice, refusal, type McpRefusal } from './refusal.ts'

export type PlanStep =
  | { readonly kind: 'create'; readonly draft: PlanDraft }
  | { readonly kind: 'change'; readonly plan: Plan }
  | { readonly kind: 'keep'; readonly plan: Plan }
  /** Archived where somebody holds it. */
  | { readonly kind: 'retire'; readonly plan: Plan }

export type PlansDecision =
  { readonly kind: 'accepted'; readonly steps: readonly PlanStep[] } | McpRefusal

export type PlansRequest = {
  /** Instead of all others; undefined: those that are there. */
  readonly inputs: readonly McpPlanInput[] | undefined
  readonly defaultPlanKey: string | undefined
}

/** A plan that is to be on offer, and the one it is now. */
type Wanted = { readonly current: Plan | undefined; readonly draft: PlanDraft }

/**
 * What a configuration makes of the product's plans. A plan that is named again keeps its reference, so that whoever holds
 * it keeps the tools it gives; all others go, except that a free plan stays where the configuration has none.
 */
export function decidePlans(
  existing: readonly Plan[],
  { inputs, defaultPlanKey }: PlansRequest,
  context: PlanContext,
): PlansDecision {
  const twice = findTwice((inputs ?? []).map(({ key }) => key))
  if (twice !== undefined) {
    return refusal('DUPLICATE_PLAN_KEY', `The plan key ${twice} is declared more than once`)
  }
  const onOffer = existing.filter(({ status }) => status !== 'archived')
  const wanted = inputs === undefined ? onOffer.map(asItIs) : replaceAll(onOffer, inputs, context)
  if (!Array.isArray(wanted)) return wanted
  const chosen = chooseDefault(wanted, defaultPlanKey, inputs !== undefined)
  if (chosen !== undefined && !mayBeDefault(chosen.draft)) {
    return refusal(
      'PLAN_NOT_ALLOWED_AS_DEFAULT',
      'Only free or usage-based plans can be the default plan of a product',
    )
  }
  const kept = new Set(wanted.map(({ current }) => current))
  const retired = onOffer.filter((plan) => !kept.has(plan))
  return {
    kind: 'accepted',
    steps: [
      ...retired.map((plan) => ({ kind: 'retire', plan }) as const),
      ...wanted.map((each) => stepTo(each, each === chosen)),
    ],
  }
}

/** The plan that tools fall back to: the default one, else the free one. */
export function fallbackPlan(plans: readonly Plan[]): Plan | undefined {
  return plans.find(({ isDefault }) => isDefault) ?? freePlanOf(plans)
}

/** By key, the free plan included also where nobody gave it one. */
export function plansByKey(plans: readonly Plan[]): ReadonlyMap<string, Plan> {
  const found = new Map<string, Plan>()
  for (const plan of plans) {
    if (plan.key !== null && plan.status !== 'archived') found.set(plan.key, plan)
  }
  const free = freePlanOf(plans)
  if (free?.key === null && !found.has(freePlanKey)) found.set(freePlanKey, free)
  return found
}

export const freePlanKey = 'free'

/** What a product is born with where no plans are given. */
export function soleFreePlan(currency: string): McpPlanInput {
  return { key: freePlanKey, name: 'Free', price: 0, currency, type: 'recurring', freeUnits: 0 }
}

function freePlanOf(plans: readonly Plan[]): Plan | undefined {
  const free = plans.filter((plan) => plan.status === 'active' && !requiresPayment(plan))
  return free.find(({ isDefault }) => isDefault) ?? free[0]
}

function replaceAll(
  onOffer: readonly Plan[],
  inputs: readonly McpPlanInput[],
  context: PlanContext,
): Wanted[] | McpRefusal {
  const wanted: Wanted[] = []
  for (const [index, input] of inputs.entries()) {
    const each = draftOf(input, onOffer, context)
    if ('kind' in each) return inPlans(each, index)
    wanted.push(each)
  }
  const isFreeAmong = wanted.some(({ draft }) => !requiresPayment(draft))
  const named = new Set<string | null>(inputs.map(({ key }) => key))
  const free = freePlanOf(onOffer.filter(({ key }) => !named.has(key)))
  if (free !== undefined && !isFreeAmong) wanted.push(asItIs(free))
  return wanted
}

/** Fields of a plan are named as the request has them. */
function inPlans(refused: McpRefusal, index: number): McpRefusal {
  const { issues } = refused
  if (issues === undefined) return refused
  const named = issues.map((issue) => ({ ...issue, path: ['plans', index, ...issue.path] }))
  return { ...refused, issues: named }
}

function draftOf(
  { key, ...fields }: McpPlanInput,
  onOffer: readonly Plan[],
  context: PlanContext,
): Wanted | McpRefusal {
  const type = fields.type ?? ((fields.creditsPerUnit ?? 0) > 0 ? 'usage-based' : 'recurring')
  // A plan's type never changes: what is of another one is another plan.
  const current = onOffer.find((plan) => plan.key === key && plan.type === type)
  const decision =
    current === undefined
      ? draftPlan({ ...fields, type }, context)
      : revisePlan(withoutWhatIsSaid(current), fields, context)
  if (decision.kind === 'refused') return decision
  return { current, draft: { ...decision.plan, key } }
}

/** Of what a configuration can say, nothing is left over from before; what was set elsewhere stays. */
function withoutWhatIsSaid(plan: Plan): PlanDraft {
  const {
    billingCycle: _cycle,
    billingModel: _model,
    creditsPerUnit: _credits,
    freeUnits: _free,
    limit: _limit,
    features: _features,
    pricingOptions: _options,
    ...terms
  }: PlanTerms = plan.terms
  return { ...asItIs(plan).draft, isDefault: false, terms }
}

function asItIs(plan: Plan): Wanted {
  const { reference: _, productRef: _ref, createdAt: _at, updatedAt: _then, ...draft } = plan
  return { current: plan, draft }
}

/** Where the plans are others now, the free one; else nothing changes unless a plan is named. */
function chooseDefault(
  wanted: readonly Wanted[],
  key: string | undefined,
  areOthers: boolean,
): Wanted | undefined {
  const named = wanted.find(({ draft }) => draft.key === key && key !== undefined)
  const before = wanted.find(
    ({ current, draft }) => current?.isDefault === true && mayBeDefault(draft),
  )
  if (named !== undefined || !areOthers) return named ?? before
  const free = wanted.filter(({ draft }) => !requiresPayment(draft))
  return free.find((each) => each === before) ?? free[0] ?? before
}

function stepTo({ current, draft }: Wanted, isDefault: boolean): PlanStep {
  const settled = { ...draft, isDefault }
  if (current === undefined) return { kind: 'create', draft: settled }
  const plan = { ...current, ...settled }
  return isDeepStrictEqual(plan, current) ? { kind: 'keep', plan } : { kind: 'change', plan }
}
