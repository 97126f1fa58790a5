import type { PlanOffer, PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import type { LimitsBalance, LimitsResponse } from '@tollgate/schemas/http/limits'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { affordableUnits, wholeCredits } from '../money/whole-credits.ts'
import { offerFields } from './limit-answer.ts'

export type NoPurchase = {
  readonly offer: PublishedOffer
  /**
   * The product's default plan if it waits for the customer's consent. Undefined if there is no default plan, or if its
   * free default plan cannot be activated again for the customer in this period.
   */
  readonly awaitingPlan: PlanOffer | undefined
  /** Wallet balance of the customer in 10^-6 credits. */
  readonly creditMicros: bigint
}

/**
 * Returns the response for a customer who has no purchase that gives access, and for whom no free plan could be
 * activated.
 */
export function answerWithoutPurchase({
  offer,
  awaitingPlan,
  creditMicros,
}: NoPurchase): LimitsResponse {
  return {
    withinLimits: false,
    remaining: 0,
    plan: '',
    meterName: requestsMeterName,
    ...(awaitingPlan === undefined ? {} : activationFields(awaitingPlan, creditMicros)),
    ...offerFields(offer),
  }
}

function activationFields(plan: PlanOffer, creditMicros: bigint): Partial<LimitsResponse> {
  if (plan.type !== 'usage-based') return { activationRequired: true }
  return { activationRequired: true, balance: balanceFor(plan, creditMicros) }
}

/** Returns what the wallet could pay for once the plan is active. */
function balanceFor(plan: PlanOffer, creditMicros: bigint): LimitsBalance {
  const creditsPerUnit = plan.creditsPerUnit ?? 0
  return {
    creditBalance: wholeCredits(creditMicros),
    creditsPerUnit,
    currency: plan.currency,
    ...(creditsPerUnit > 0
      ? { remainingUnits: affordableUnits(creditMicros, creditsPerUnit) }
      : {}),
  }
}
