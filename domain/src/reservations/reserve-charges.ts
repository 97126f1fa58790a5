import { bucketRangeAt, bucketSpecOf } from '@tollgate/platform/hot-state/bucket-windows'
import type {
  FurtherCap,
  ReserveOutcome,
  ReserveRequest,
} from '@tollgate/platform/hot-state/reservations'
import type { Environment } from '@tollgate/schemas/environment'
import type { LimitWindow, PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { highestDebitMicros } from '../entitlements/highest-rates.ts'
import {
  answerChargeCheck,
  capOfCharge,
  isDenied,
  limitStates,
  unitsLeft,
  type ChargedEntitlement,
  type LimitState,
} from '../entitlements/charge-limits.ts'
import { isBehind } from '../entitlements/counted-usage-reader.ts'
import { windowOfPeriod, type EntitledPeriod } from '../entitlements/counting-windows.ts'
import { packUnits, type PackUnits } from '../entitlements/pack-units.ts'
import { isBucketed, resetSecond } from '../entitlements/entitled-limits.ts'
import type { UsageParts } from '../entitlements/usage-query.ts'
import { spendableMicros } from '../wallet/read-wallet.ts'
import { creditsToReserve, type CreditsToReserve } from '../wallet/reserve-credits.ts'
import { prepareRefused, type PreparedHold } from './prepared-hold.ts'
import { readChargeCheck, type ChargedPeriod } from './read-charge-check.ts'
import { creditStates } from './credit-states.ts'
import { bucketsOf, usedIn, type SeriesReading } from './series-readings.ts'
import { heldCredits, reservationIdOf, type UnitsToHold } from './units-to-hold.ts'

/* Reservations of plans with charges: units of one or several meters, under every cap that applies to them. */

export type ChargesQuery = {
  readonly environment: Environment
  readonly providerId: string
  readonly customerRef: string
  readonly productRef: string
  readonly idempotencyKey: string | undefined
  readonly held: UnitsToHold
  readonly ttlMs: number
  readonly nowMs: number
  readonly waitMs: number
  readonly tailRecordsMax: number
  readonly reservationsMax: number
  readonly creditsHeldMax: number
}

export type ChargedPurchase = {
  /** The document of the customer's own entry, which has the entitlement. */
  readonly document: string | undefined
  readonly entitlement: ChargedEntitlement
  readonly period: EntitledPeriod
}

export type ReservedCharges = {
  readonly kind: 'charged'
  readonly isHeld: boolean
  /** Returns the response. `offer` is read only for a refusal. */
  readonly answer: (offer: PublishedOffer | undefined) => LimitsResponse
}

/** Heads of the log by reference, as they were at the first reading: usage up to there was acknowledged before the call. */
export type FirstHeads = Map<string, number>

export type PreparedCharges = PreparedHold<
  ReservedCharges | { readonly kind: 'full' },
  SeriesReading
>

/**
 * Prepares a reservation of units of meters, or of credits. The rules of `reserveUsage` apply: counts of other partitions are read
 * first, and one atomic step checks every cap and the wallet. It reserves all units or none.
 */
export async function prepareCharges(
  parts: UsageParts,
  query: ChargesQuery,
  charged: ChargedPurchase,
  heads: FirstHeads,
): Promise<PreparedCharges> {
  const { held, idempotencyKey } = query
  const prepare = () => prepareHold(parts, query, charged, heads)
  if (held.isNamed && isLimited(charged.entitlement, held)) return prepare()
  const refused = await refusedByAnyLimit(parts, query, charged)
  return refused === undefined ? prepare() : prepareRefused(idempotencyKey, refused, prepare)
}

async function prepareHold(
  parts: UsageParts,
  query: ChargesQuery,
  charged: ChargedPurchase,
  heads: FirstHeads,
): Promise<PreparedCharges> {
  const { entitlement } = charged
  const readings = await Promise.all(
    entitlement.customerRefs.map((reference) => readSeries(parts, query, reference, heads)),
  )
  const own = readings[entitlement.customerRefs.indexOf(entitlement.customerRef)]!
  const elsewhere = readings.filter(({ at }) => at.partition !== own.at.partition)
  const credits = await creditsOf(parts, query, entitlement)
  // Hot state checks the counters of this partition, but not those that determine the units of packs.
  const readFirst = entitlement.packs === undefined ? elsewhere : readings
  // Another entry may have been published since the entitlement was read. The counters then belong to its windows.
  const isReplaced = own.view.document !== charged.document
  if (isReplaced || credits === 'unpublished' || readFirst.some(isBehind)) {
    return { kind: 'late', readings }
  }
  const caps = capsOf(query, charged, packsOf(query, charged, readings), elsewhere)
  const here = readings.filter((reading) => !elsewhere.includes(reading))
  const request = requestOf(query, charged, caps, own, here, elsewhere)
  const together = credits === undefined ? {} : { together: credits.request }
  const { reservationId } = request
  const context = { readings, reservationId, grantedMicros: credits?.grantedMicros ?? 0n }
  return {
    kind: 'prepared',
    request: { ...request, ...together },
    readings,
    decide: (outcome) =>
      outcome.kind === 'full' ? outcome : decidedBy(query, charged, caps, outcome, context),
  }
}

function isLimited({ charges, limits = [] }: ChargedEntitlement, { units }: UnitsToHold): boolean {
  return [...charges, ...limits].some(({ meterName }) => units.has(meterName))
}

/**
 * Returns the refusal if any limit of the plan blocks. A caller that names no limited meter does not say what the call will use, so
 * it must not pass where a plain check would refuse.
 */
async function refusedByAnyLimit(
  parts: UsageParts,
  query: ChargesQuery,
  charged: ChargedPurchase,
): Promise<ReservedCharges | undefined> {
  const now = { ...charged, nowSecond: Math.floor(query.nowMs / 1000) }
  const ownQuery = { ...query, customerRef: charged.entitlement.customerRef }
  const check = await readChargeCheck(parts, ownQuery, now, {})
  // The plan was replaced by one without charges, and the step will be refused because of the other document.
  if (check === undefined) return undefined
  const states = limitStates(check)
  if (!isDenied(states)) return undefined
  const answer = (offer: PublishedOffer | undefined): LimitsResponse =>
    answerChargeCheck({ ...check, states, isDetailed: false, offer })
  return { kind: 'charged', isHeld: false, answer }
}

async function readSeries(
  { log, hotState }: UsageParts,
  { environment, providerId, productRef, held }: ChargesQuery,
  customerRef: string,
  heads: FirstHeads,
): Promise<SeriesReading> {
  const topic = usageTopic(environment)
  const subject = subjectKey(providerId, customerRef)
  const partition = partitionOf(subject, log.partitionCount(topic))
  const at = { space: environment, partition, subject, scope: productRef }
  // The head is read first. Records that are acknowledged after this line need not be included.
  const head = heads.get(customerRef) ?? log.head(topic, partition)
  const view = hotState.readEntrySeries(at, seriesOf(held))
  const [headThen, viewThen] = await Promise.all([head, view])
  heads.set(customerRef, headThen)
  return { at, head: headThen, view: viewThen }
}

/** Returns the held series. A reservation of credits holds none, and is remembered beside the counters of `requests`. */
function seriesOf({ units }: UnitsToHold): string[] {
  return units.size === 0 ? [requestsMeterName] : [...units.keys()]
}

/** One limit of the meters that are held. `cap` is undefined for a charge without a cap. */
type HeldLimit = Pick<LimitState, 'key' | 'meterName' | 'charge'> & {
  readonly window: LimitWindow
  readonly cap: FurtherCap | undefined
}

/** Returns the units of packs of the meters that are held, from the counters of all references. */
function packsOf(
  { held, nowMs }: ChargesQuery,
  { entitlement, period }: ChargedPurchase,
  readings: readonly SeriesReading[],
): HeldPacks {
  const packs = new Map<string, PackUnits>()
  for (const meterName of held.units.keys()) {
    const amounts = new Map<string, bigint>()
    for (const { view } of readings) {
      for (const [id, micros] of view.series.get(meterName)?.amounts ?? []) {
        amounts.set(id, (amounts.get(id) ?? 0n) + micros)
      }
    }
    const units = packUnits(entitlement, meterName, period, amounts, nowMs)
    if (units !== undefined) packs.set(meterName, units)
  }
  return packs
}

type HeldPacks = ReadonlyMap<string, PackUnits>

function capsOf(
  { held, nowMs }: ChargesQuery,
  { entitlement, period }: ChargedPurchase,
  packs: HeldPacks,
  elsewhere: readonly SeriesReading[],
): HeldLimit[] {
  const nowSecond = Math.floor(nowMs / 1000)
  const isHeld = ({ meterName }: { readonly meterName: string }): boolean =>
    held.units.has(meterName)
  const capIn = (window: LimitWindow, series: string, cap: bigint): FurtherCap => {
    const within = withinOf(window, entitlement, period, nowSecond)
    return { series, cap, within, elsewhere: usedIn(elsewhere, series, window, within) }
  }
  const ofCharges = entitlement.charges.filter(isHeld).map((charge): HeldLimit => {
    const { key, meterName } = charge
    const window = { kind: 'period' } as const
    const cap = capOfCharge(charge, packs.get(meterName))
    const capped = cap === null ? undefined : capIn(window, meterName, cap)
    return { key, meterName, charge, window, cap: capped }
  })
  const ofPlan = (entitlement.limits ?? []).filter(isHeld).map((limit): HeldLimit => {
    const { key, meterName, window } = limit
    return { key, meterName, window, cap: capIn(window, meterName, BigInt(limit.cap)) }
  })
  return [...ofCharges, ...ofPlan]
}

function withinOf(
  window: LimitWindow,
  entitlement: ChargedEntitlement,
  period: EntitledPeriod,
  nowSecond: number,
): FurtherCap['within'] {
  if (!isBucketed(window)) return { windowId: windowOfPeriod(entitlement, period.startSecond) }
  const { id: _id, ...form } = bucketSpecOf(window)
  return { form, fromBucket: bucketRangeAt(window, nowSecond).fromBucket }
}

function requestOf(
  query: ChargesQuery,
  { entitlement, period }: ChargedPurchase,
  limits: readonly HeldLimit[],
  own: SeriesReading,
  here: readonly SeriesReading[],
  elsewhere: readonly SeriesReading[],
): ReserveRequest {
  const [[series, units] = [requestsMeterName, 0n], ...further] = query.held.units
  const appliedOffsets = new Map<number, number>()
  for (const { at, view } of elsewhere) {
    const offset = appliedOffsets.get(at.partition) ?? view.appliedOffset
    appliedOffsets.set(at.partition, Math.min(offset, view.appliedOffset))
  }
  return {
    at: own.at,
    document: own.view.document,
    reservationId: reservationIdOf(query, entitlement.customerRef),
    units,
    takes: 'all',
    ttlMs: query.ttlMs,
    subjects: here.map(({ at }) => at.subject),
    series,
    windowId: windowOfPeriod(entitlement, period.startSecond),
    cap: null,
    ...(units > 0n && {
      bySeries: {
        furtherUnits: new Map(further),
        furtherCaps: limits.flatMap(({ cap }) => (cap === undefined ? [] : [cap])),
      },
    }),
    minOffset: Math.max(...here.map(({ head }) => head)),
    isReservedFirst: false,
    elsewhere: { amount: 0n, appliedOffsets },
    reservationsMax: query.reservationsMax,
  }
}

/** Returns what to hold in the wallet. The rates of the call are not known yet, so the highest ones are assumed. */
async function creditsOf(
  parts: UsageParts,
  { environment, providerId, held, creditsHeldMax }: ChargesQuery,
  { customerRef, credit, charges }: ChargedEntitlement,
): Promise<CreditsToReserve | undefined | 'unpublished'> {
  const dueMicros = held.creditMicros ?? highestDebitMicros(charges, held.units)
  if (credit === null || dueMicros === 0n) return undefined
  const name = { environment, providerId, customerRef }
  return (await creditsToReserve(parts, name, dueMicros, creditsHeldMax)) ?? 'unpublished'
}

type Decision = Extract<ReserveOutcome, { kind: 'admitted' | 'denied' }>

/** Values that the outcome of a step does not contain. */
type OutcomeContext = {
  readonly readings: readonly SeriesReading[]
  readonly reservationId: string
  readonly grantedMicros: bigint
}

function decidedBy(
  { held, nowMs }: ChargesQuery,
  charged: ChargedPurchase,
  limits: readonly HeldLimit[],
  outcome: Decision,
  { readings, reservationId, grantedMicros }: OutcomeContext,
): ReservedCharges {
  const isHeld = outcome.kind === 'admitted'
  const { takenTogether } = outcome
  const creditMicros =
    takenTogether === undefined
      ? 0n
      : spendableMicros({ grantedMicros, spentMicros: takenTogether.used + takenTogether.reserved })
  const now = { ...charged, nowSecond: Math.floor(nowMs / 1000) }
  const states =
    held.creditMicros === undefined
      ? statesOf(limits, held, outcome, (limit, excessMicros) =>
          resetOf(limit, now, readings, excessMicros),
        )
      : creditStates(now, creditMicros, isHeld)
  const [meterName] = held.isEstimate ? [] : held.units.keys()
  return {
    kind: 'charged',
    isHeld,
    answer: (offer) => {
      const response = answerChargeCheck({
        ...{ ...now, meterName, usedByMeter: new Map() },
        ...{ creditMicros, states, isDetailed: false, offer },
      })
      if (!isHeld) return response
      const { units, expiresAtMs } = outcome
      const expiresAt = new Date(expiresAtMs).toISOString()
      const named = { id: reservationId, units: numberFromMicros(units) }
      return { ...response, reservation: { ...named, ...heldCredits(held), expiresAt } }
    },
  }
}

/** Returns the Unix second at which the limit has room for the units again, as far as usage decides. Reservations may end earlier. */
function resetOf(
  { meterName, window }: HeldLimit,
  { period, nowSecond }: ChargedPeriod,
  readings: readonly SeriesReading[],
  excessMicros: bigint,
): number {
  if (!isBucketed(window)) return period.endSecond
  const buckets = bucketsOf(readings, meterName, window)
  // The units fit again as soon as nothing is in excess.
  return resetSecond(window, nowSecond, buckets, excessMicros - 1n)
}

function statesOf(
  limits: readonly HeldLimit[],
  { units }: UnitsToHold,
  outcome: Decision,
  resetOfLimit: (limit: HeldLimit, excessMicros: bigint) => number,
): LimitState[] {
  const isHeld = outcome.kind === 'admitted'
  let next = 0
  const states = limits.map((limit): LimitState => {
    const { key, meterName, charge, cap } = limit
    const named = { key, meterName, ...(charge === undefined ? {} : { charge }) }
    if (cap === undefined) {
      const open = { capMicros: null, usedMicros: 0n, remaining: null, blocks: null }
      return { ...named, ...open, resetsAtSecond: undefined }
    }
    const { used, reserved } = outcome.taken.further![next++]!
    const usedMicros = used + reserved + cap.elsewhere
    const excessMicros = usedMicros + units.get(meterName)! - cap.cap
    const blocks = !isHeld && excessMicros > 0n ? 'cap' : null
    return {
      ...named,
      capMicros: cap.cap,
      usedMicros,
      remaining: unitsLeft(cap.cap, usedMicros),
      blocks,
      resetsAtSecond: blocks === null ? undefined : resetOfLimit(limit, excessMicros),
    }
  })
  if (isHeld || states.some(({ blocks }) => blocks !== null)) return states
  // No cap refused, so the wallet did.
  return states.map((state) =>
    state.charge?.debit === undefined ? state : { ...state, remaining: 0, blocks: 'credits' },
  )
}
