import { isDeepStrictEqual } from 'node:util'
import type { McpPlanInput } from '@tollgate/schemas/http/mcp'
import { draftPlan, revisePlan, type PlanContext, type PlanDraft } from '../catalog/draft-plan.ts'
import { faultsUnder } from '../plans/field-fault.ts'
import { mayBeDefault, requiresPayment, type Plan, type PlanTerms } from '../plans/plan.ts'
import { priceUnitOf } from '../pricing/charge-terms.ts'
import { findDuplicate, refusal, type McpRefusal } from './refusal.ts'

export type PlanStep =
  | { readonly kind: 'create'; readonly draft: PlanDraft }
  | { readonly kind: 'change'; readonly plan: Plan }
  | { readonly kind: 'keep'; readonly plan: Plan }
  /** The plan is archived if customers have it, otherwise removed. */
  | { readonly kind: 'retire'; readonly plan: Plan }

export type PlansDecision =
  { readonly kind: 'accepted'; readonly steps: readonly PlanStep[] } | McpRefusal

export type PlansRequest = {
  /** The plans that replace all current ones. Undefined to keep the current plans. */
  readonly inputs: readonly McpPlanInput[] | undefined
  readonly defaultPlanKey: string | undefined
}

/** A plan that is to be offered, and its current state. */
type Wanted = { readonly current: Plan | undefined; readonly draft: PlanDraft }

/**
 * Decides how a configuration changes the product's plans. A plan that is named again keeps its reference, so that
 * customers with the plan keep its tools. All other plans are retired, but a free plan stays if the configuration has
 * none.
 */
export function decidePlans(
  existing: readonly Plan[],
  { inputs, defaultPlanKey }: PlansRequest,
  context: PlanContext,
): PlansDecision {
  const twice = findDuplicate((inputs ?? []).map(({ key }) => key))
  if (twice !== undefined) {
    return refusal('DUPLICATE_PLAN_KEY', `The plan key ${twice} is declared more than once`)
  }
  const onOffer = existing.filter(({ status }) => status !== 'archived')
  const wanted =
    inputs === undefined ? onOffer.map(unchangedPlan) : replaceAll(onOffer, inputs, context)
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

/** Returns the plan to which tools fall back: the default plan, otherwise the free plan. */
export function fallbackPlan(plans: readonly Plan[]): Plan | undefined {
  return plans.find(({ isDefault }) => isDefault) ?? freePlanOf(plans)
}

/** Returns the plans by key. The free plan is included under `free` even if it was created without a key. */
export function plansByKey(plans: readonly Plan[]): ReadonlyMap<string, Plan> {
  const found = new Map<string, Plan>()
  for (const plan of plans) {
    if (plan.key !== null && plan.status !== 'archived') found.set(plan.key, plan)
  }
  const free = freePlanOf(plans)
  if (free?.key === null && !found.has(freePlanKey)) found.set(freePlanKey, free)
  return found
}

const freePlanKey = 'free'

/** Returns the plan of a new product for which no plans are given. */
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
    if ('kind' in each) return prefixIssuePaths(each, index)
    wanted.push(each)
  }
  const isFreeAmong = wanted.some(({ draft }) => !requiresPayment(draft))
  const named = new Set<string | null>(inputs.map(({ key }) => key))
  const free = freePlanOf(onOffer.filter(({ key }) => !named.has(key)))
  if (free !== undefined && !isFreeAmong) wanted.push(unchangedPlan(free))
  return wanted
}

/** Prefixes the paths of the issues, so that they name the fields of the request. */
function prefixIssuePaths(refused: McpRefusal, index: number): McpRefusal {
  const { issues } = refused
  if (issues === undefined) return refused
  return { ...refused, issues: faultsUnder(['plans', index], issues) }
}

function draftOf(
  { key, ...fields }: McpPlanInput,
  onOffer: readonly Plan[],
  context: PlanContext,
): Wanted | McpRefusal {
  const type = fields.type ?? (costsCredits(fields) ? 'usage-based' : 'recurring')
  // The type of a plan never changes, so an input with another type is another plan.
  const current = onOffer.find((plan) => plan.key === key && plan.type === type)
  const decision =
    current === undefined
      ? draftPlan({ ...fields, type }, context)
      : revisePlan(withoutConfiguredFields(current), fields, context)
  if (decision.kind === 'refused') return decision
  return { current, draft: { ...decision.plan, key } }
}

function costsCredits({ creditsPerUnit = 0, charges = [] }: Omit<McpPlanInput, 'key'>): boolean {
  return creditsPerUnit > 0 || charges.some((charge) => priceUnitOf(charge) === 'credits')
}

/**
 * Returns the plan without the fields that a configuration can set, so that no earlier value of them remains. Fields
 * that were set elsewhere stay.
 */
function withoutConfiguredFields(plan: Plan): PlanDraft {
  const {
    billingCycle: _cycle,
    billingModel: _model,
    charges: _charges,
    creditsPerUnit: _credits,
    freeUnits: _free,
    limit: _limit,
    features: _features,
    pricingOptions: _options,
    usageLimits: _limits,
    ...terms
  }: PlanTerms = plan.terms
  return { ...unchangedPlan(plan).draft, isDefault: false, terms }
}

function unchangedPlan(plan: Plan): Wanted {
  const { reference: _, productRef: _ref, createdAt: _at, updatedAt: _then, ...draft } = plan
  return { current: plan, draft }
}

/**
 * Chooses the default plan: the named one. Without a name, the free plan is chosen if the plans are replaced; otherwise
 * the default stays as it is.
 */
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
