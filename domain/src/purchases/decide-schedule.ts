import type { MoveObstacle } from '@tollgate/schemas/http/plan-migrations'
import type { ChangeBilling } from '@tollgate/schemas/http/scheduled-changes'
import { isPack } from '../packs/pack-terms.ts'
import { periodAt } from '../periods/periods.ts'
import { renews, requiresPayment } from '../plans/plan.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { cycleOf, isLapsed } from './access.ts'
import { isInTrial } from './agreed-fee.ts'
import { withAddOnsAhead } from './carry-add-ons.ts'
import { hasTerms } from './has-terms.ts'
import type { ChangeToSchedule, Purchase } from './purchase.ts'
import { isEnding } from './transitions.ts'

/** When a change of plan that the provider schedules takes effect. */
export type ChangeTiming = {
  /** How a change within a period is billed. Undefined: the change waits for a renewal. */
  readonly billing: ChangeBilling | undefined
  /** The earliest time of the change. A renewal is the first one from then on. */
  readonly notBefore: Date
  /** When the terms were those of the plan. */
  readonly termsAt: Date
}

/** States of a purchase in which its terms stay. */
export type StateObstacle = Extract<
  MoveObstacle,
  'past_due' | 'suspended' | 'cancelled' | 'ended' | 'does_not_renew'
>

/** Why a change of plan cannot be scheduled for a purchase. */
export type ScheduleObstacle = Exclude<MoveObstacle, 'change_pending'> | 'unchanged'

export type ScheduleDecision =
  | { readonly kind: 'schedule'; readonly change: ChangeToSchedule }
  | { readonly kind: 'refused'; readonly obstacle: ScheduleObstacle }

/**
 * Decides about a change of a purchase to the terms of a plan, which may be the plan that it has. Only a purchase that renews and
 * whose period is paid or a trial can be scheduled to change, and only to a plan with the same periods in the same currency, because
 * the new purchase continues the periods of the old one. It keeps the add-ons that the plan allows. The end of a trial counts as a
 * renewal.
 */
export function decideSchedule(
  held: Purchase,
  chosen: PlanSnapshot,
  timing: ChangeTiming,
  now: Date,
): ScheduleDecision {
  const isAfterTrial = held.status === 'trialing' && !isInTrial(held, timing.notBefore)
  // The end of the trial has charged the set-up fees of the add-ons by then.
  const plan = withAddOnsAhead(isAfterTrial ? { ...held, status: 'active' } : held, chosen)
  const obstacle = obstacleOfState(held, now) ?? obstacleOfTerms(held, plan)
  if (obstacle !== undefined) return { kind: 'refused', obstacle }
  const { billing, termsAt } = timing
  if (billing === undefined) {
    const at = renewalFrom(held, timing.notBefore)
    if (at === undefined) return { kind: 'refused', obstacle: 'does_not_renew' }
    return { kind: 'schedule', change: { plan, at, termsAt, isByProvider: true } }
  }
  const at = timing.notBefore > now ? timing.notBefore : now
  return { kind: 'schedule', change: { plan, at, billing, termsAt, isByProvider: true } }
}

/** Returns why the state of the purchase allows no change of its terms. Undefined if it allows one. */
export function obstacleOfState(held: Purchase, now: Date): StateObstacle | undefined {
  if (isEnding(held)) return 'cancelled'
  switch (held.status) {
    case 'suspended':
    case 'past_due':
      return held.status
    case 'trialing':
    case 'active':
      if (isLapsed(held, now)) return 'ended'
      return held.autoRenew && !held.isPack ? undefined : 'does_not_renew'
    case 'pending':
    case 'cancelled':
    case 'expired':
    case 'refunded':
      return 'ended'
  }
}

function obstacleOfTerms(held: Purchase, plan: PlanSnapshot): ScheduleObstacle | undefined {
  const { planSnapshot: before, currency } = held
  if (before === null || !renews(plan) || isPack(plan)) return 'does_not_renew'
  if (hasTerms(before, plan)) return 'unchanged'
  if (pricesIn(plan, currency) === undefined) return 'other_currency'
  if (!haveSamePeriods(before, plan)) return 'other_period'
  // A customer with a free plan has never agreed to pay, and may have got it from a limit check.
  return requiresPayment(plan) && !requiresPayment(before) ? 'free_plan' : undefined
}

function haveSamePeriods({ terms: before }: PlanSnapshot, { terms: after }: PlanSnapshot): boolean {
  return (
    before.billingCycle === after.billingCycle && before.billingCycleDays === after.billingCycleDays
  )
}

/** Returns the first renewal of the purchase at that time or later. Undefined if it has no periods. */
export function renewalFrom(held: Purchase, notBefore: Date): Date | undefined {
  const { nextBillingDate } = held
  const cycle = cycleOf(held)
  if (cycle === undefined || nextBillingDate === null) return undefined
  if (nextBillingDate >= notBefore) return nextBillingDate
  const { start, end } = periodAt(cycle, notBefore)
  return start.getTime() === notBefore.getTime() ? start : end
}
