import { microsFromNumber, numberFromMicros } from '@tollgate/schemas/quantity'
import { lesser } from '../money/amounts.ts'
import { effectiveCap, hasCap } from './plan-cap.ts'
import type { PlanCore, PlanTerms } from './plan.ts'

/**
 * Returns the units of one period that the plan's price includes, 10^-6; null for any number. The units of charges are counted by
 * charge and are never prorated, so a plan with them includes 0 here.
 */
export function includedMicros(plan: PlanCore): bigint | null {
  if (plan.terms.charges !== undefined) return plan.type === 'hybrid' || hasCap(plan) ? 0n : null
  if (plan.type !== 'hybrid') return effectiveCap(plan)
  // Without overage the limit only caps usage: units between the free units and the limit are charged.
  const { freeUnits, limit } = plan.terms
  return micros(freeUnits) + (hasOverage(plan) ? micros(limit) : 0n)
}

/** Fields that determine how many units the price of a purchase's first period includes. */
export type ProratedPurchase = {
  readonly startDate: Date
  /** 10^-6 units; null for as many as the plan includes. */
  readonly firstIncludedMicros: bigint | null
}

/** Returns whether the plan includes units of its charges, or limits them. */
export function limitsCharges({ terms }: PlanCore): boolean {
  if ((terms.usageLimits ?? []).length > 0) return true
  return (terms.charges ?? []).some(({ included = 0, cap = 0 }) => included > 0 || cap > 0)
}

/** Returns the plan with the units that apply to the purchase's period starting at `start`. */
export function planOfPeriod<Plan extends PlanCore>(
  plan: Plan,
  { startDate, firstIncludedMicros }: ProratedPurchase,
  { start }: { readonly start: Date },
): Plan {
  if (plan.terms.charges !== undefined) return plan
  const isFirst = start.getTime() === startDate.getTime()
  return isFirst && firstIncludedMicros !== null ? planIncluding(plan, firstIncludedMicros) : plan
}

function planIncluding<Plan extends PlanCore>(plan: Plan, included: bigint): Plan {
  if (plan.type !== 'hybrid') return withTerms(plan, { limit: units(atLeastSome(included)) })
  const unbilled = unbilledUnits(plan, included)
  if (!hasOverage(plan)) return withTerms(plan, { freeUnits: units(included), ...unbilled })
  const free = lesser(included, micros(plan.terms.freeUnits))
  return withTerms(plan, { freeUnits: units(free), limit: units(included - free), ...unbilled })
}

/** With fewer included units, fewer units reach the amount that can stay unbilled. */
function unbilledUnits(plan: PlanCore, included: bigint): Pick<PlanTerms, 'maxUnbilledUnits'> {
  const { maxUnbilledUnits } = plan.terms
  if (maxUnbilledUnits === undefined) return {}
  const left = micros(maxUnbilledUnits) + included - (includedMicros(plan) ?? 0n)
  return { maxUnbilledUnits: units(left > 0n ? left : 0n) }
}

function withTerms<Plan extends PlanCore>(
  plan: Plan,
  terms: Pick<PlanTerms, 'limit' | 'freeUnits' | 'maxUnbilledUnits'>,
): Plan {
  return { ...plan, terms: { ...plan.terms, ...terms } }
}

/** In plans, a limit of 0 means no limit. */
function atLeastSome(included: bigint): bigint {
  return included > 0n ? included : 1n
}

function hasOverage({ terms }: PlanCore): boolean {
  return terms.overagePolicy?.allowOverage === true
}

function micros(given: number | undefined): bigint {
  return BigInt(microsFromNumber(given ?? 0) ?? 0)
}

function units(included: bigint): number {
  return numberFromMicros(included)
}
