import type { Entitlement, PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import { offerFields } from '../entitlements/limit-answer.ts'
import { unixSeconds } from '../periods/periods.ts'
import type { BudgetStop } from './budget.ts'

/** Adds a stop to the entitlement of its purchase. A stop of an earlier purchase does not apply. */
export function withBudgetStop(
  entitlement: Entitlement,
  stop: BudgetStop | undefined,
): Entitlement {
  if (stop?.purchaseRef !== entitlement.purchaseRef) return entitlement
  const startSecond = unixSeconds(stop.periodStart)
  return { ...entitlement, budgetStop: { startSecond, endSecond: unixSeconds(stop.periodEnd) } }
}

/** Returns whether the customer's budget refuses usage at a time. */
export function isStopped({ budgetStop }: Pick<Entitlement, 'budgetStop'>, nowMs: number): boolean {
  if (budgetStop === undefined) return false
  return budgetStop.startSecond * 1000 <= nowMs && nowMs < budgetStop.endSecond * 1000
}

/** Returns the response to a limit check while the budget refuses usage. Nothing else decides, so no counter is shown. */
export function answerStopped(
  { planRef, budgetStop }: Entitlement,
  meterName: string,
  offer: PublishedOffer | undefined,
): LimitsResponse {
  return {
    withinLimits: false,
    remaining: 0,
    plan: planRef,
    meterName,
    blockedBy: { reason: 'budget', limit: 'budget', meterName },
    resetsAt: new Date(budgetStop!.endSecond * 1000).toISOString(),
    ...offerFields(offer),
  }
}
