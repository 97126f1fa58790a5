import { hourMs } from '@tollgate/domain/alerts/checks-repository'
import {
  compileEntitlement,
  type EntitlementContext,
} from '@tollgate/domain/entitlements/compile-entitlement'
import type { EntitledPeriod } from '@tollgate/domain/entitlements/counting-windows'
import { planInPeriod } from '@tollgate/domain/overrides/overridden-plan'
import type { PlanSnapshot } from '@tollgate/domain/plans/plan-snapshot'
import { givesAccess } from '@tollgate/domain/purchases/access'
import { accessEnd } from '@tollgate/domain/purchases/entitlement-of'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import {
  firstPeriodToleranceSeconds,
  type Entitlement,
} from '@tollgate/schemas/hot-state/documents'

/** A period of a purchase in which the customer used something. */
export type WatchedPurchasePeriod = {
  readonly purchase: Purchase
  /** The plan with the customer's overrides. */
  readonly plan: PlanSnapshot
  /** Contains the period and its neighbours. */
  readonly entitlement: Entitlement
  readonly period: EntitledPeriod
  /** The period runs, and the purchase gives access. */
  readonly isCurrent: boolean
}

/**
 * Returns the periods of a purchase that contain one of the hours, or a part of it. An ended period is among them: an event
 * is emitted for what was reached in it, even if its usage arrives late. Periods that begin in the future are left out.
 */
export function watchedPeriods(
  purchase: Purchase,
  held: Pick<EntitlementContext, 'customerRefs' | 'packs'>,
  usedHours: readonly number[],
  now: Date,
): WatchedPurchasePeriod[] {
  const { planSnapshot: plan, startDate } = purchase
  if (plan === null) return []
  const endDate = accessEnd(purchase, now)
  const found = new Map<number, WatchedPurchasePeriod>()
  for (const hour of usedHours) {
    const [fromMs, toMs] = [hour * hourMs, (hour + 1) * hourMs]
    if (toMs <= startDate.getTime() - firstPeriodToleranceSeconds * 1_000) continue
    const at = new Date(Math.max(fromMs, startDate.getTime()))
    if (endDate !== null && endDate <= at) continue
    const context = { now: at, ...held }
    const entitlement = compileEntitlement({ ...purchase, endDate }, plan, context)
    for (const period of entitlement.periods) {
      const [startMs, endMs] = [period.startSecond * 1_000, period.endSecond * 1_000]
      const isTouched = startMs < Math.max(toMs, at.getTime() + 1) && endMs > at.getTime()
      if (!isTouched || startMs > now.getTime() || found.has(period.startSecond)) continue
      const isCurrent = givesAccess(purchase, now) && now.getTime() < endMs
      // The customer's overrides decide about included units.
      const overridden = planInPeriod(plan, purchase, new Date(startMs))
      const watched = { purchase, plan: overridden, entitlement, period, isCurrent }
      found.set(period.startSecond, watched)
    }
  }
  return [...found.values()]
}
