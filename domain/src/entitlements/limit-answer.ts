import type { Entitlement, PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import type { LimitsBalance, LimitsResponse } from '@tollgate/schemas/http/limits'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { paidUnits, wholeCredits } from '../money/whole-credits.ts'

/** What clients take for "no cap". */
export const remainingWithoutCap = 999_999

export type LimitCheck = {
  readonly entitlement: Entitlement
  /** Usage of the current period, all references of the customer together, in 10^-6 units. */
  readonly usedMicros: bigint
  /** What may be used of the period (`allowedMicros`); null: any amount. */
  readonly allowedMicros: bigint | null
  /** Read only when the answer is a refusal: what may be bought instead. */
  readonly offer: PublishedOffer | undefined
  /** The wallet of a customer on a pre-paid plan, 10^-6 credits; 0 for all others. */
  readonly creditMicros: bigint
}

/** The answer for a customer with a purchase that gives access. */
export function answerLimitCheck(check: LimitCheck): LimitsResponse {
  return limitsAnswer(!isDenied(check), check)
}

/** The same for who has decided otherwise than by what remains. */
export function limitsAnswer(isWithin: boolean, check: LimitCheck): LimitsResponse {
  const { entitlement, offer } = check
  return {
    withinLimits: isWithin,
    remaining: remainingUnits(check),
    plan: entitlement.planRef,
    meterName: requestsMeterName,
    ...walletFields(check),
    ...(isWithin ? {} : offerFields(offer)),
  }
}

/** Whether the answer will be a refusal, and so needs the offer. */
export function isDenied(check: Omit<LimitCheck, 'offer'>): boolean {
  return remainingUnits(check) <= 0
}

function remainingUnits(check: Omit<LimitCheck, 'offer'>): number {
  const { entitlement, usedMicros, allowedMicros, creditMicros } = check
  const underCap = allowedMicros === null ? undefined : allowedMicros - usedMicros
  const left =
    underCap === undefined ? remainingWithoutCap : numberFromMicros(atLeastZero(underCap))
  if (entitlement.credit === null) return left
  const paid = paidUnits(creditMicros, entitlement.credit.creditsPerUnit)
  return underCap === undefined ? paid : Math.min(paid, left)
}

function atLeastZero(amount: bigint): bigint {
  return amount < 0n ? 0n : amount
}

/**
 * Only for plans that are paid from the wallet: clients take the presence of `balance` for "this customer pays by
 * use", and 0 credits for "top up".
 */
function walletFields({ entitlement, creditMicros }: LimitCheck): Partial<LimitsResponse> {
  if (entitlement.credit === null) return {}
  const { creditsPerUnit, currency } = entitlement.credit
  const balance: LimitsBalance = {
    creditBalance: wholeCredits(creditMicros),
    creditsPerUnit,
    currency,
    remainingUnits: paidUnits(creditMicros, creditsPerUnit),
  }
  return { creditBalance: balance.creditBalance, creditsPerUnit, currency, balance }
}

/** A refusal always says what could be bought: clients choose their wording by it. */
export function offerFields(
  offer: PublishedOffer | undefined,
): Pick<LimitsResponse, 'product' | 'plans'> {
  if (offer === undefined) return { plans: [] }
  return { plans: [...offer.plans].map(mutableOffer), product: offer.product }
}

function mutableOffer(plan: PublishedOffer['plans'][number]) {
  const { pricingOptions, ...rest } = plan
  return pricingOptions === undefined ? rest : { ...rest, pricingOptions: [...pricingOptions] }
}
