import type { Entitlement, PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import type { LimitsBalance, LimitsResponse } from '@tollgate/schemas/http/limits'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import type { PackUnitsBody } from '@tollgate/schemas/http/packs'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { atLeastZero } from '../money/amounts.ts'
import { affordableUnits, wholeCredits } from '../money/whole-credits.ts'
import type { PackUnits } from './pack-units.ts'

/** Value of `remaining` that clients interpret as "no cap". */
export const remainingWithoutCap = 999_999

export type LimitCheck = {
  readonly entitlement: Entitlement
  /** Usage of all references of the customer in the current period, in 10^-6 units. */
  readonly usedMicros: bigint
  /** Allowed usage in the period (`allowedMicros`). Null if it is unlimited. */
  readonly allowedMicros: bigint | null
  /** Units of packs. Absent if the customer has none. */
  readonly packs?: PackUnits | undefined
  /** The plans that can be bought instead. Only read if the check is denied. */
  readonly offer: PublishedOffer | undefined
  /** Wallet balance of a customer on a pre-paid plan, in 10^-6 credits. 0 for all other plans. */
  readonly creditMicros: bigint
}

/** Returns the response for a customer with a purchase that gives access. */
export function answerLimitCheck(check: LimitCheck): LimitsResponse {
  return toLimitsResponse(!isDenied(check), check)
}

/** Like `answerLimitCheck`, for callers that decide `isWithin` by other rules than the remaining units. */
export function toLimitsResponse(isWithin: boolean, check: LimitCheck): LimitsResponse {
  const { entitlement, offer } = check
  return {
    withinLimits: isWithin,
    remaining: remainingUnits(check),
    plan: entitlement.planRef,
    meterName: requestsMeterName,
    ...walletFields(check),
    ...packFields(check),
    ...(isWithin ? {} : offerFields(offer)),
  }
}

/** Returns whether the check is denied. A denied check needs the offer. */
export function isDenied(check: Omit<LimitCheck, 'offer'>): boolean {
  return remainingUnits(check) <= 0
}

function remainingUnits(check: Omit<LimitCheck, 'offer'>): number {
  const { entitlement, usedMicros, allowedMicros, creditMicros } = check
  const underCap = allowedMicros === null ? undefined : allowedMicros - usedMicros
  const left =
    underCap === undefined ? remainingWithoutCap : numberFromMicros(atLeastZero(underCap))
  if (entitlement.credit === null) return left
  const paid = affordableUnits(creditMicros, entitlement.credit.creditsPerUnit)
  return underCap === undefined ? paid : Math.min(paid, left)
}

/**
 * Returns the wallet fields, only for plans that are paid from the wallet. Clients interpret the presence of `balance`
 * as "this customer pays per use", and 0 credits as "top up".
 */
function walletFields({ entitlement, creditMicros }: LimitCheck): Partial<LimitsResponse> {
  if (entitlement.credit === null) return {}
  const { creditsPerUnit, currency } = entitlement.credit
  const balance: LimitsBalance = {
    creditBalance: wholeCredits(creditMicros),
    creditsPerUnit,
    currency,
    remainingUnits: affordableUnits(creditMicros, creditsPerUnit),
  }
  return { creditBalance: balance.creditBalance, creditsPerUnit, currency, balance }
}

/** Returns what packs and the plan leave, only for customers with packs. Their sum is what the cap leaves. */
function packFields({ usedMicros, allowedMicros, packs }: LimitCheck): Partial<LimitsResponse> {
  if (packs === undefined) return {}
  return {
    packs: [packUnitsBody(requestsMeterName, packs, allowedMicros, usedMicros)],
  }
}

/** Returns what packs and the plan leave of a meter. `allowedMicros` includes the packs, and is null for any number. */
export function packUnitsBody(
  meterName: string,
  { leftMicros }: PackUnits,
  allowedMicros: bigint | null,
  usedMicros: bigint,
): PackUnitsBody {
  const packRemaining = numberFromMicros(leftMicros)
  if (allowedMicros === null) return { meterName, packRemaining }
  // Usage that a reservation holds takes the units of packs too.
  const total = atLeastZero(allowedMicros - usedMicros)
  const ofPacks = leftMicros < total ? leftMicros : total
  return {
    meterName,
    planRemaining: numberFromMicros(total - ofPacks),
    packRemaining: numberFromMicros(ofPacks),
  }
}

/**
 * Returns the plans that the customer can buy. A denied check always includes them, because clients choose their
 * wording by them.
 */
export function offerFields(
  offer: PublishedOffer | undefined,
): Pick<LimitsResponse, 'product' | 'plans'> {
  if (offer === undefined) return { plans: [] }
  return { plans: [...offer.plans].map(mutableOffer), product: offer.product }
}

function mutableOffer(plan: PublishedOffer['plans'][number]) {
  const { pricingOptions, charges, ...rest } = plan
  return {
    ...rest,
    ...(pricingOptions === undefined ? {} : { pricingOptions: [...pricingOptions] }),
    ...(charges === undefined ? {} : { charges: [...charges] }),
  }
}
