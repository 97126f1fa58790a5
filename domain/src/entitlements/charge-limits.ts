import type {
  EntitledCharge,
  EntitledLimit,
  Entitlement,
  PublishedOffer,
} from '@tollgate/schemas/hot-state/documents'
import type { LimitBody, LimitsRequest, LimitsResponse } from '@tollgate/schemas/http/limits'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { wholeCredits } from '../money/whole-credits.ts'
import { highestRatePicos } from './charge-debits.ts'
import { highestMeterPicos } from './highest-rates.ts'
import type { EntitledPeriod } from './counting-windows.ts'
import { isBucketed, resetSecond, spanOfLimit } from './entitled-limits.ts'
import { offerFields, packUnitsBody, remainingWithoutCap } from './limit-answer.ts'
import type { PackUnits } from './pack-units.ts'
import type { SpanUsage, UsageSpan } from './usage-query.ts'

/*
 * Limit checks of plans with charges. A charge limits its meter by a cap, by the wallet, or by both. The limits of the plan add any
 * number of windows of time. The one that leaves least decides.
 */

/** An entitlement of a plan with charges. */
export type ChargedEntitlement = Entitlement & { readonly charges: readonly EntitledCharge[] }

export function hasCharges(entitlement: Entitlement): entitlement is ChargedEntitlement {
  return entitlement.charges !== undefined
}

/** Returns the entitlement with the charges of the period. Overrides can have new prices that wait for a later period. */
export function entitlementOfPeriod(
  entitlement: Entitlement,
  { startSecond }: Pick<EntitledPeriod, 'startSecond'>,
): Entitlement {
  const { laterCharges } = entitlement
  if (laterCharges === undefined || startSecond < laterCharges.fromSecond) return entitlement
  return { ...entitlement, charges: laterCharges.charges }
}

/**
 * Returns the meter that a request names, if a limit of the plan has it. A name without a limit may be a misspelling or that of an
 * earlier plan, so it is treated like none: every limit decides.
 */
export function limitedMeter(
  { charges, limits = [] }: ChargedEntitlement,
  { meterName, usageType }: Pick<LimitsRequest, 'meterName' | 'usageType'>,
): string | undefined {
  const asked = meterName || usageType
  return [...charges, ...limits].find((each) => each.meterName === asked)?.meterName
}

/** The usage of one meter that a check must read. */
export type MeterToRead = { readonly meterName: string; readonly spans: readonly UsageSpan[] }

/** Usage of a meter by all references of the customer. */
export type MeterUsage = {
  /** Units of the period, 10^-6. */
  readonly periodMicros: bigint
  readonly spans: ReadonlyMap<string, SpanUsage>
  /** Units of packs of the meter. Absent if the customer has none. */
  readonly packs?: PackUnits | undefined
}

export type ChargeCheck = {
  readonly entitlement: ChargedEntitlement
  readonly period: EntitledPeriod
  readonly nowSecond: number
  /** The meter that the caller is about to use, or undefined for any. */
  readonly meterName: string | undefined
  /** The usage of each of `metersToRead`. */
  readonly usedByMeter: ReadonlyMap<string, MeterUsage>
  /** Balance of the wallet in 10^-6 credits, 0 if no wallet pays. */
  readonly creditMicros: bigint
}

/** Returns the meters whose usage decides about a call. */
export function metersToRead(
  { charges, limits = [], packs }: ChargedEntitlement,
  meterName: string | undefined,
  nowSecond: number,
): MeterToRead[] {
  const spans = new Map<string, UsageSpan[]>()
  const spansOf = (name: string): UsageSpan[] => {
    const known = spans.get(name) ?? []
    spans.set(name, known)
    return known
  }
  for (const charge of ofMeter(charges, meterName)) {
    if (charge.cap !== null) spansOf(charge.meterName)
  }
  for (const packed of ofMeter(packs?.meters ?? [], meterName)) spansOf(packed.meterName)
  for (const { key, window, ...limit } of ofMeter(limits, meterName)) {
    const ofLimit = spansOf(limit.meterName)
    if (isBucketed(window)) ofLimit.push(spanOfLimit(key, window, nowSecond))
  }
  return Array.from(spans, ([name, ofMeter]) => ({ meterName: name, spans: ofMeter }))
}

/** One limit and what it leaves. */
export type LimitState = {
  /** Name of the charge or of the limit. */
  readonly key: string
  readonly meterName: string
  /** The charge, if the limit is that of a charge. */
  readonly charge?: EntitledCharge
  /** 10^-6 units, or null for no cap. */
  readonly capMicros: bigint | null
  readonly usedMicros: bigint
  /** The part of the used units that packs pay for. Absent for a limit that packs do not raise. */
  readonly packMicros?: bigint
  /** Units that the cap and the wallet leave, or null for any number. */
  readonly remaining: number | null
  /** Why it refuses further usage. */
  readonly blocks: 'cap' | 'credits' | null
  /** Unix second at which the cap leaves room again, or undefined if it has no cap. */
  readonly resetsAtSecond: number | undefined
}

/** Returns the limits that apply to the call: those of the charges, then those of the plan. */
export function limitStates(check: ChargeCheck): LimitState[] {
  const { entitlement, meterName } = check
  const { charges, limits = [] } = entitlement
  return [
    ...ofMeter(charges, meterName).map((charge) => chargeState(charge, check)),
    ...ofMeter(limits, meterName).map((limit) => windowState(limit, check)),
  ]
}

function ofMeter<Named extends { readonly meterName: string }>(
  all: readonly Named[],
  meterName: string | undefined,
): readonly Named[] {
  return meterName === undefined ? all : all.filter((each) => each.meterName === meterName)
}

function chargeState(charge: EntitledCharge, check: ChargeCheck): LimitState {
  const { entitlement, period, usedByMeter, creditMicros } = check
  const usage = usedByMeter.get(charge.meterName)
  const capMicros = capOfCharge(charge, usage?.packs)
  const usedMicros = usage?.periodMicros ?? 0n
  const underCap = capMicros === null ? null : unitsLeft(capMicros, usedMicros)
  const paid = affordableUnits(charge, entitlement, creditMicros)
  return {
    key: charge.key,
    meterName: charge.meterName,
    charge,
    capMicros,
    usedMicros,
    packMicros: usage?.packs === undefined ? 0n : usage.packs.addedMicros - usage.packs.leftMicros,
    remaining: least(underCap, paid),
    blocks: underCap === 0 ? 'cap' : paid === 0 ? 'credits' : null,
    resetsAtSecond: capMicros === null ? undefined : period.endSecond,
  }
}

/** Returns the cap of a charge with the units that packs add, 10^-6, or null for no cap. */
export function capOfCharge({ cap }: EntitledCharge, packs?: PackUnits): bigint | null {
  return cap === null ? null : BigInt(cap) + (packs?.addedMicros ?? 0n)
}

function windowState(
  { key, meterName, cap, window }: EntitledLimit,
  check: ChargeCheck,
): LimitState {
  const { period, nowSecond, usedByMeter } = check
  const usage = usedByMeter.get(meterName)
  const span = usage?.spans.get(key)
  const usedMicros = (isBucketed(window) ? span?.usedMicros : usage?.periodMicros) ?? 0n
  const capMicros = BigInt(cap)
  const remaining = unitsLeft(capMicros, usedMicros)
  const resetsAtSecond = isBucketed(window)
    ? resetSecond(window, nowSecond, span?.buckets ?? new Map(), usedMicros - capMicros)
    : period.endSecond
  const blocks = remaining === 0 ? 'cap' : null
  return { key, meterName, capMicros, usedMicros, remaining, blocks, resetsAtSecond }
}

export function unitsLeft(capMicros: bigint, usedMicros: bigint): number {
  return usedMicros >= capMicros ? 0 : numberFromMicros(capMicros - usedMicros)
}

/**
 * Returns the whole units that the wallet pays for at the highest rate of the meter, over all of its charges. Null if the charge
 * costs nothing.
 */
function affordableUnits(
  { meterName, debit }: EntitledCharge,
  { charges }: ChargedEntitlement,
  creditMicros: bigint,
): number | null {
  if (debit === undefined || highestRatePicos(debit) === 0n) return null
  const picos = highestMeterPicos(charges, meterName)
  return picos === 0n ? null : Number((creditMicros * 1_000_000n) / picos)
}

function least(one: number | null, other: number | null): number | null {
  if (one === null) return other
  return other === null || one < other ? one : other
}

/** Returns the limit that leaves least, or undefined if none applies. Of two that block, the later reset decides. */
function tightestLimit(states: readonly LimitState[]): LimitState | undefined {
  return states.reduce<LimitState | undefined>((tightest, state) => {
    if (tightest === undefined) return state
    const [one, other] = [remainingOf(tightest), remainingOf(state)]
    if (one !== other) return other < one ? state : tightest
    return other === 0 && resetOf(state) > resetOf(tightest) ? state : tightest
  }, undefined)
}

function remainingOf({ remaining }: LimitState): number {
  return remaining ?? Infinity
}

/** An empty wallet does not fill by itself. */
function resetOf({ blocks, resetsAtSecond = 0 }: LimitState): number {
  return blocks === 'credits' ? Infinity : resetsAtSecond
}

/** Returns whether a limit refuses further usage. A denied check needs the offer. */
export function isDenied(states: readonly LimitState[]): boolean {
  return states.some(({ blocks }) => blocks !== null)
}

export type ChargeAnswer = ChargeCheck & {
  readonly states: readonly LimitState[]
  /** The answer lists all limits. */
  readonly isDetailed: boolean
  /** The plans that can be bought instead. Only read if the check is denied. */
  readonly offer: PublishedOffer | undefined
}

/** Returns the response to a limit check of a plan with charges. */
export function answerChargeCheck(answer: ChargeAnswer): LimitsResponse {
  const { entitlement, meterName, states, isDetailed, offer } = answer
  const isRefused = isDenied(states)
  const tightest = tightestLimit(
    isRefused ? states.filter(({ blocks }) => blocks !== null) : states,
  )
  return {
    withinLimits: !isRefused,
    remaining: tightest?.remaining ?? remainingWithoutCap,
    plan: entitlement.planRef,
    meterName: meterName ?? tightest?.meterName ?? requestsMeterName,
    ...walletFields(answer, tightest),
    ...(isRefused ? blockedFields(tightest!) : {}),
    ...packFields(answer),
    ...(isDetailed ? { limits: states.map(limitBody) } : {}),
    ...(isRefused ? offerFields(offer) : {}),
  }
}

/** Returns what packs and the plan leave of each meter of which the customer has packs. */
function packFields({ usedByMeter, entitlement }: ChargeAnswer): Partial<LimitsResponse> {
  const bodies = [...usedByMeter].flatMap(([meterName, { periodMicros, packs }]) => {
    if (packs === undefined) return []
    const capped = entitlement.charges.find((each) => each.meterName === meterName && each.cap)
    const cap = capped === undefined ? null : capOfCharge(capped, packs)
    return [packUnitsBody(meterName, packs, cap, periodMicros)]
  })
  return bodies.length === 0 ? {} : { packs: bodies }
}

function walletFields(
  { entitlement, states, creditMicros }: ChargeAnswer,
  tightest: LimitState | undefined,
): Partial<LimitsResponse> {
  if (entitlement.credit === null) return {}
  const { currency } = entitlement.credit
  const isDebited = ({ charge }: LimitState): boolean => charge?.debit !== undefined
  const paid = tightest !== undefined && isDebited(tightest) ? tightest : states.find(isDebited)
  const creditsPerUnit = Number(paid?.charge?.debit?.creditsPerUnit ?? 0)
  const creditBalance = wholeCredits(creditMicros)
  const remainingUnits = paid?.charge && affordableUnits(paid.charge, entitlement, creditMicros)
  const units = remainingUnits === undefined || remainingUnits === null ? {} : { remainingUnits }
  const balance = { creditBalance, creditsPerUnit, currency, ...units }
  return { creditBalance, creditsPerUnit, currency, balance }
}

function blockedFields(state: LimitState): Partial<LimitsResponse> {
  const { key, meterName, blocks, resetsAtSecond } = state
  const reason = blocks!
  return {
    blockedBy: { reason, limit: key, meterName },
    ...(reason === 'cap' && resetsAtSecond !== undefined ? { resetsAt: iso(resetsAtSecond) } : {}),
  }
}

function limitBody(state: LimitState): LimitBody {
  const { key, meterName, capMicros, usedMicros, remaining, blocks, resetsAtSecond } = state
  return {
    limit: key,
    meterName,
    ...(capMicros === null
      ? {}
      : {
          cap: numberFromMicros(capMicros),
          used: numberFromMicros(usedMicros),
          resetsAt: iso(resetsAtSecond!),
        }),
    ...(remaining === null ? {} : { remaining }),
    ...(blocks === null ? {} : { blocks }),
  }
}

function iso(second: number): string {
  return new Date(second * 1000).toISOString()
}
