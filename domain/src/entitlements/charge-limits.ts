import type {
  Entitlement,
  EntitledCharge,
  PublishedOffer,
} from '@tollgate/schemas/hot-state/documents'
import type { LimitBody, LimitsResponse } from '@tollgate/schemas/http/limits'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { wholeCredits } from '../money/whole-credits.ts'
import { highestRatePicos } from './charge-debits.ts'
import type { EntitledPeriod } from './counting-windows.ts'
import { offerFields, remainingWithoutCap } from './limit-answer.ts'

/* Limit checks of plans with charges. Each charge limits one meter, by a cap, by the wallet, or by both. */

/** An entitlement of a plan with charges. */
export type ChargedEntitlement = Entitlement & { readonly charges: readonly EntitledCharge[] }

export function hasCharges(entitlement: Entitlement): entitlement is ChargedEntitlement {
  return entitlement.charges !== undefined
}

export type ChargeCheck = {
  readonly entitlement: ChargedEntitlement
  readonly period: EntitledPeriod
  /** The meter that the caller is about to use, or undefined for any. */
  readonly meterName: string | undefined
  /** Usage of all references of the customer in the period, in 10^-6 units, for each of `metersToRead`. */
  readonly usedByMeter: ReadonlyMap<string, bigint>
  /** Balance of the wallet in 10^-6 credits, 0 if no wallet pays. */
  readonly creditMicros: bigint
}

/** Returns the meters whose counters decide about a call. */
export function metersToRead(
  { charges }: ChargedEntitlement,
  meterName: string | undefined,
): string[] {
  const capped = askedCharges(charges, meterName).filter(({ cap }) => cap !== null)
  return [...new Set(capped.map((charge) => charge.meterName))]
}

/** What one charge leaves. `blocks` names why it refuses further usage. */
export type ChargeLimit = {
  readonly charge: EntitledCharge
  /** Cap of the period in 10^-6 units, or null for none. */
  readonly capMicros: bigint | null
  readonly usedMicros: bigint
  /** Units that the cap and the wallet leave, or null for any number. */
  readonly remaining: number | null
  readonly blocks: 'cap' | 'credits' | null
}

/** Returns the limits of the charges that apply to the call, in the order of the plan. */
export function chargeLimits(check: ChargeCheck): ChargeLimit[] {
  return askedCharges(check.entitlement.charges, check.meterName).map((charge) =>
    limitOf(charge, check),
  )
}

function askedCharges(
  charges: readonly EntitledCharge[],
  meterName: string | undefined,
): readonly EntitledCharge[] {
  return meterName === undefined ? charges : charges.filter((each) => each.meterName === meterName)
}

function limitOf(
  charge: EntitledCharge,
  { entitlement, period, usedByMeter, creditMicros }: ChargeCheck,
): ChargeLimit {
  const isFirst = period.startSecond === entitlement.firstPeriodStartSecond
  const cap = (isFirst ? charge.firstPeriodCap : undefined) ?? charge.cap
  const capMicros = cap === null ? null : BigInt(cap)
  const usedMicros = usedByMeter.get(charge.meterName) ?? 0n
  const underCap = capMicros === null ? null : numberFromMicros(atLeastZero(capMicros - usedMicros))
  const paid = affordable(charge, creditMicros)
  const remaining = least(underCap, paid)
  const blocks = underCap === 0 ? 'cap' : paid === 0 ? 'credits' : null
  return { charge, capMicros, usedMicros, remaining, blocks }
}

/** Returns the whole units that the wallet pays for at the highest rate of the charge, or null if they cost nothing. */
function affordable({ debit }: EntitledCharge, creditMicros: bigint): number | null {
  if (debit === undefined) return null
  const picos = highestRatePicos(debit)
  return picos === 0n ? null : Number((creditMicros * 1_000_000n) / picos)
}

function least(one: number | null, other: number | null): number | null {
  if (one === null) return other
  return other === null || one < other ? one : other
}

function atLeastZero(micros: bigint): bigint {
  return micros < 0n ? 0n : micros
}

/** Returns the limit that leaves least, or undefined if none applies. */
export function tightestLimit(limits: readonly ChargeLimit[]): ChargeLimit | undefined {
  return limits.reduce<ChargeLimit | undefined>((tightest, limit) => {
    if (tightest === undefined) return limit
    return remainingOf(limit) < remainingOf(tightest) ? limit : tightest
  }, undefined)
}

/** Returns the limit that refuses further usage, or undefined if there is none. */
export function blockingLimit(limits: readonly ChargeLimit[]): ChargeLimit | undefined {
  return limits.find(({ blocks }) => blocks !== null)
}

function remainingOf({ remaining }: ChargeLimit): number {
  return remaining ?? Infinity
}

export type ChargeAnswer = ChargeCheck & {
  readonly limits: readonly ChargeLimit[]
  /** The answer lists all limits. */
  readonly isDetailed: boolean
  /** The plans that can be bought instead. Only read if the check is denied. */
  readonly offer: PublishedOffer | undefined
}

/** Returns the response to a limit check of a plan with charges. */
export function answerChargeCheck(answer: ChargeAnswer): LimitsResponse {
  const { entitlement, period, meterName, limits, isDetailed, offer } = answer
  const tightest = tightestLimit(limits)
  const blocking = blockingLimit(limits)
  return {
    withinLimits: blocking === undefined,
    remaining: tightest?.remaining ?? remainingWithoutCap,
    plan: entitlement.planRef,
    meterName: meterName ?? tightest?.charge.meterName ?? requestsMeterName,
    ...walletFields(answer, tightest),
    ...(blocking === undefined ? {} : blockedFields(blocking, period)),
    ...(isDetailed ? { limits: limits.map((limit) => limitBody(limit, period)) } : {}),
    ...(blocking === undefined ? {} : offerFields(offer)),
  }
}

function walletFields(
  { entitlement, creditMicros }: ChargeCheck,
  tightest: ChargeLimit | undefined,
): Partial<LimitsResponse> {
  if (entitlement.credit === null) return {}
  const { currency } = entitlement.credit
  const debit = tightest?.charge.debit
  const creditsPerUnit = Number(debit?.creditsPerUnit ?? 0)
  const creditBalance = wholeCredits(creditMicros)
  const paid = debit === undefined ? null : affordable(tightest!.charge, creditMicros)
  return {
    creditBalance,
    creditsPerUnit,
    currency,
    balance: {
      creditBalance,
      creditsPerUnit,
      currency,
      ...(paid === null ? {} : { remainingUnits: paid }),
    },
  }
}

function blockedFields(
  { charge, blocks }: ChargeLimit,
  period: EntitledPeriod,
): Partial<LimitsResponse> {
  const reason = blocks!
  return {
    blockedBy: { reason, charge: charge.key, meterName: charge.meterName },
    ...(reason === 'cap' ? { resetsAt: endOf(period) } : {}),
  }
}

function limitBody(
  { charge, capMicros, usedMicros, remaining, blocks }: ChargeLimit,
  period: EntitledPeriod,
): LimitBody {
  return {
    charge: charge.key,
    meterName: charge.meterName,
    ...(capMicros === null
      ? {}
      : {
          cap: numberFromMicros(capMicros),
          used: numberFromMicros(usedMicros),
          resetsAt: endOf(period),
        }),
    ...(remaining === null ? {} : { remaining }),
    ...(blocks === null ? {} : { blocks }),
  }
}

function endOf({ endSecond }: EntitledPeriod): string {
  return new Date(endSecond * 1000).toISOString()
}
