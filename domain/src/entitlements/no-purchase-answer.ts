import type { PlanOffer, PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import type { LimitsBalance, LimitsResponse } from '@tollgate/schemas/http/limits'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { paidUnits, wholeCredits } from '../money/whole-credits.ts'
import { offerFields } from './limit-answer.ts'

export type NoPurchase = {
  readonly offer: PublishedOffer
  /**
   * The product's default plan if it waits for the customer's consent. Undefined when there is no default plan, and
   * when its free default plan cannot be given to the customer again in this period.
   */
  readonly awaitingPlan: PlanOffer | undefined
  /** The customer's wallet, 10^-6 credits. */
  readonly creditMicros: bigint
}

/** The answer for a customer without a purchase that gives access, where no free plan could be given. */
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

/** What the wallet would pay for once the plan is active. */
function balanceFor(plan: PlanOffer, creditMicros: bigint): LimitsBalance {
  const creditsPerUnit = plan.creditsPerUnit ?? 0
  return {
    creditBalance: wholeCredits(creditMicros),
    creditsPerUnit,
    currency: plan.currency,
    ...(creditsPerUnit > 0 ? { remainingUnits: paidUnits(creditMicros, creditsPerUnit) } : {}),
  }
}
