import type {
  ReserveOutcome,
  ReserveRequest,
  UsedElsewhere,
} from '@tollgate/platform/hot-state/reservations'
import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { spendableMicros } from '../wallet/read-wallet.ts'
import { creditsToReserve, type CreditsToReserve } from '../wallet/reserve-credits.ts'
import { allowedMicros } from '../entitlements/allowed-units.ts'
import { carriedOverMicros } from '../entitlements/carried-over.ts'
import {
  publishedEntitlementOf,
  isBehind,
  rereadEntry,
  readReference,
  sumAmounts,
} from '../entitlements/counted-usage-reader.ts'
import {
  currentPeriod,
  windowOfPeriod,
  type EntitledPeriod,
} from '../entitlements/counting-windows.ts'
import { packUnits, type PackUnits } from '../entitlements/pack-units.ts'
import { answerStopped, isStopped } from '../budgets/entitled-stop.ts'
import { entitlementOfPeriod, hasCharges } from '../entitlements/charge-limits.ts'
import { waitForLateReadings, type LateReading } from './late-readings.ts'
import { prepareRefused, type PreparedHold } from './prepared-hold.ts'
import { reservationIdOf, type UnitsToHold } from './units-to-hold.ts'
import { prepareCharges, type FirstHeads, type ReservedCharges } from './reserve-charges.ts'
import type {
  Reading,
  ReferenceQuery,
  UsageParts,
  UsageQuery,
} from '../entitlements/usage-query.ts'

/** What one reservation holds. */
export type HoldQuery = {
  readonly held: UnitsToHold
  readonly ttlMs: number
  /** Idempotency key of the request. If it is undefined or empty, each call makes a new reservation. */
  readonly idempotencyKey: string | undefined
}

export type ReserveQuery = CustomerQuery & HoldQuery

/** Whose units are reserved, and the limits of that. */
export type CustomerQuery = Omit<UsageQuery, 'customerRefs' | 'spans' | 'meterName'> & {
  /** Time that selects the period. */
  readonly nowMs: number
  readonly reservationsMax: number
  /** Maximum number of holds in one wallet at a time, including those of usage in progress. */
  readonly creditsHeldMax: number
}

export type ReservedUsage =
  | ReservedCharges
  /** The plan has no charges, so it limits only `requests`, and the estimate names other meters. */
  | { readonly kind: 'not-limited' }
  /** All or none were to be held, and another one was refused before this was tried. */
  | { readonly kind: 'not-tried' }
  /** The request holds credits, and no wallet pays for the plan. */
  | { readonly kind: 'not-prepaid' }
  /** No published purchase applies now, so the control plane must be asked. */
  | { readonly kind: 'unknown' }
  /** The customer has the maximum number of reservations of the product or holds of credits. */
  | { readonly kind: 'full' }
  | {
      readonly kind: 'decided'
      readonly entitlement: Entitlement
      /** Units used and reserved over all references of the customer, including this reservation. */
      readonly takenMicros: bigint
      /** Units that can be used in the period; null for any number. */
      readonly allowedMicros: bigint | null
      /** Units of packs; undefined if the customer has none. */
      readonly packs: PackUnits | undefined
      /** Credits left in the wallet after all holds, 10^-6; 0 for plans that are not paid from a wallet. */
      readonly creditMicros: bigint
      /** The reservation; undefined if it was denied. */
      readonly reservation: Reservation | undefined
    }

export type Reservation = {
  readonly id: string
  readonly unitsMicros: bigint
  /** The held credits in 10^-6, if the request was for credits. */
  readonly creditMicros: bigint | undefined
  readonly expiresAtMs: number
}

export type PreparedReservation = PreparedHold<ReservedUsage, LateReading>

/**
 * Reserves units of a customer's cap, in addition to everything used and acknowledged before the call and everything reserved. A
 * reservation is stored under the customer's own reference, so that requests under different references share one cap. Counts of
 * other partitions are read first. Hot state refuses counts that were read too early to include the usage of a reservation that has
 * since ended ('behind'), and then everything is read again.
 *
 * The entry of the customer's own reference lists all references of the customer, and is published last. If another entry is
 * published meanwhile, the step is refused in the same way, so that usage under a newly linked reference is included.
 *
 * For a plan that is paid from a wallet, the same step holds the credits that the units cost. Either both fit, or nothing is
 * reserved. A request for credits holds no units. It is refused if the cap leaves none.
 *
 * Unlike in a plain check, the tail of the log is not added to what is reserved, because its records are not settled yet. Throws UsageBehindError if
 * the counters do not catch up in time.
 */
export async function reserveUsage(parts: UsageParts, query: ReserveQuery): Promise<ReservedUsage> {
  // Real time is used instead of the injected clock, so that a test that stops that clock cannot stop the end of this loop.
  const deadline = performance.now() + query.waitMs
  const first = openReadings(parts, query)
  for (;;) {
    const customer = await readCustomer(parts, query, first)
    if (customer === undefined) return { kind: 'unknown' }
    const prepared = await prepareReservation(parts, query, customer, first)
    if (prepared.kind === 'decided') return prepared.reserved
    if (prepared.kind === 'prepared') {
      const outcome = await parts.hotState.reserve(prepared.request)
      if (outcome.kind !== 'behind') return prepared.decide(outcome)
    }
    await waitForLateReadings(parts, prepared.readings, query.waitMs, deadline)
  }
}

/** Everything that was read first. Usage up to the heads of the logs at that time was acknowledged before the call. */
export type FirstReadings = { readonly references: References; readonly heads: FirstHeads }

export function openReadings(parts: UsageParts, query: CustomerQuery): FirstReadings {
  return { references: new References(parts, query), heads: new Map() }
}

/** What a customer's own entry says now. */
export type ReadCustomer = {
  readonly requested: Reading
  readonly own: Reading
  readonly entitlement: Entitlement
  readonly period: EntitledPeriod
}

/** Returns undefined if no purchase is published that applies now. */
export async function readCustomer(
  parts: UsageParts,
  query: CustomerQuery,
  { references }: FirstReadings,
): Promise<ReadCustomer | undefined> {
  const requested = await references.read(query.customerRef)
  const ownRef = publishedEntitlementOf(parts, requested)?.customerRef ?? requested.customerRef
  const own = ownRef === requested.customerRef ? requested : await references.read(ownRef)
  const entitlement = publishedEntitlementOf(parts, own)
  const period = entitlement && currentPeriod(entitlement, query.nowMs)
  if (entitlement === undefined || period === undefined) return undefined
  return { requested, own, entitlement: entitlementOfPeriod(entitlement, period), period }
}

/** Reads everything else and returns the request to hot state. */
export async function prepareReservation(
  parts: UsageParts,
  query: ReserveQuery,
  customer: ReadCustomer,
  first: FirstReadings,
): Promise<PreparedReservation> {
  const { entitlement } = customer
  const prepare = () => prepareHold(parts, query, customer, first)
  if (!isStopped(entitlement, query.nowMs)) return prepare()
  return prepareRefused(query.idempotencyKey, refusedByBudget(entitlement, query), prepare)
}

async function prepareHold(
  parts: UsageParts,
  query: ReserveQuery,
  { requested, own, entitlement, period }: ReadCustomer,
  { references, heads }: FirstReadings,
): Promise<PreparedReservation> {
  if (query.held.creditMicros !== undefined && !isPaidByWallet(entitlement)) {
    return { kind: 'decided', reserved: { kind: 'not-prepaid' } }
  }
  if (hasCharges(entitlement)) {
    const { document } = own.view
    return prepareCharges(parts, query, { document, entitlement, period }, heads)
  }
  const unitsMicros = unitsOfRequests(query.held)
  if (unitsMicros === undefined) return { kind: 'decided', reserved: { kind: 'not-limited' } }

  const readings = await references.readOthers([own, requested], entitlement.customerRefs)
  const here = readings.filter(({ at }) => at.partition === own.at.partition)
  const elsewhere = readings.filter((reading) => !here.includes(reading))
  // Hot state checks the counters of the current period in this partition, but not those that determine the carried-over units
  // and the units of packs.
  const dependsOnCounters = entitlement.rollOver !== undefined || entitlement.packs !== undefined
  const readFirst = dependsOnCounters ? readings : elsewhere
  const credits = await creditsOf(parts, query, unitsMicros, entitlement)
  if (credits === 'unpublished' || readFirst.some(isBehind)) return { kind: 'late', readings }
  const window = windowOfPeriod(entitlement, period.startSecond)
  const used = usedElsewhereIn(elsewhere, window)
  const sums = sumAmounts(readings)
  const carried = carriedOverMicros(entitlement, period, sums, query.nowMs)
  const packs = packUnits(entitlement, requestsMeterName, period, sums, query.nowMs)
  const allowed = {
    entitlement,
    allowedMicros: allowedMicros(entitlement, period, carried, packs),
    packs,
  }
  const request = toReserveRequest(query, unitsMicros, allowed, own, here, window)
  const together = credits === undefined ? {} : { together: credits.request }
  const context = {
    usedElsewhere: used.amount,
    grantedMicros: credits?.grantedMicros ?? 0n,
    creditMicros: query.held.creditMicros,
  }
  return {
    kind: 'prepared',
    request: { ...request, elsewhere: used, ...together },
    readings,
    decide: (outcome) => toReservedUsage(outcome, allowed, request.reservationId, context),
  }
}

function isPaidByWallet({ credit, charges }: Entitlement): boolean {
  if (credit === null) return false
  return charges === undefined || charges.some(({ debit }) => debit !== undefined)
}

/**
 * Reads references. Whether a reference is behind is decided by the head of its partition's log at the first read, because usage up
 * to there was acknowledged before.
 */
class References {
  readonly #parts: UsageParts
  readonly #counted: ReferenceQuery
  readonly #known = new Map<string, Reading>()

  constructor(parts: UsageParts, query: CustomerQuery) {
    this.#parts = parts
    this.#counted = { ...query, meterName: requestsMeterName }
  }

  async read(customerRef: string): Promise<Reading> {
    const known = this.#known.get(customerRef)
    const reading = await (known === undefined
      ? readReference(this.#parts, this.#counted, customerRef)
      : rereadEntry(this.#parts, this.#counted, known))
    this.#known.set(customerRef, reading)
    return reading
  }

  /** Returns the given readings and those of all other references. */
  async readOthers(known: readonly Reading[], customerRefs: readonly string[]): Promise<Reading[]> {
    const readings = new Map(known.map((reading) => [reading.customerRef, reading]))
    const others = customerRefs.filter((ref) => !readings.has(ref))
    return [...readings.values(), ...(await Promise.all(others.map((ref) => this.read(ref))))]
  }
}

/** Returns a refusal that no counter decides. */
function refusedByBudget(entitlement: Entitlement, { held }: ReserveQuery): ReservedCharges {
  const [named = requestsMeterName] = held.units.keys()
  return {
    kind: 'charged',
    isHeld: false,
    answer: (offer) => answerStopped(entitlement, named, offer),
  }
}

/** Returns what to hold in the wallet of a plan that is paid from it. 'unpublished': a lost wallet is not published again yet. */
async function creditsOf(
  parts: UsageParts,
  { environment, providerId, creditsHeldMax, held }: ReserveQuery,
  unitsMicros: bigint,
  { customerRef, credit }: Entitlement,
): Promise<CreditsToReserve | undefined | 'unpublished'> {
  if (credit === null) return undefined
  const name = { environment, providerId, customerRef }
  const dueMicros = held.creditMicros ?? unitsMicros * BigInt(credit.creditsPerUnit)
  return (await creditsToReserve(parts, name, dueMicros, creditsHeldMax)) ?? 'unpublished'
}

/** Returns the units of `requests` to hold, 0 for credits, or undefined if the estimate names another meter. */
function unitsOfRequests({ units, creditMicros, isEstimate }: UnitsToHold): bigint | undefined {
  if (creditMicros !== undefined) return 0n
  if (!isEstimate) return [...units.values()][0]
  return units.size === 1 ? units.get(requestsMeterName) : undefined
}

type Allowed = Pick<
  Extract<ReservedUsage, { kind: 'decided' }>,
  'entitlement' | 'allowedMicros' | 'packs'
>

function toReserveRequest(
  query: ReserveQuery,
  unitsMicros: bigint,
  { allowedMicros: allowed }: Allowed,
  { customerRef, at, view }: Reading,
  here: readonly Reading[],
  window: string,
): Omit<ReserveRequest, 'elsewhere'> {
  // Credits are for a call of which the cap must leave something, so at least a millionth of a unit.
  const cap = allowed !== null && unitsMicros === 0n ? allowed - 1n : allowed
  return {
    at,
    document: view.document,
    reservationId: reservationIdOf(query, customerRef),
    units: unitsMicros,
    takes: 'all',
    ttlMs: query.ttlMs,
    subjects: here.map(({ at }) => at.subject),
    series: requestsMeterName,
    windowId: window,
    cap,
    minOffset: Math.max(...here.map(({ head }) => head)),
    isReservedFirst: false,
    reservationsMax: query.reservationsMax,
  }
}

function usedElsewhereIn(readings: readonly Reading[], window: string): UsedElsewhere {
  let amount = 0n
  const appliedOffsets = new Map<number, number>()
  for (const { at, view } of readings) {
    amount += view.amounts.get(window) ?? 0n
    const offset = appliedOffsets.get(at.partition) ?? view.appliedOffset
    appliedOffsets.set(at.partition, Math.min(offset, view.appliedOffset))
  }
  return { amount, appliedOffsets }
}

/** Values that the outcome of a step does not contain. */
type OutcomeContext = {
  readonly usedElsewhere: bigint
  readonly grantedMicros: bigint
  readonly creditMicros: bigint | undefined
}

function toReservedUsage(
  outcome: Exclude<ReserveOutcome, { kind: 'behind' }>,
  allowed: Allowed,
  id: string,
  { usedElsewhere, grantedMicros, creditMicros }: OutcomeContext,
): ReservedUsage {
  switch (outcome.kind) {
    case 'full':
      return { kind: 'full' }
    case 'denied':
      return decided(
        allowed,
        takenMicros(outcome, usedElsewhere),
        creditsLeft(outcome, grantedMicros),
      )
    case 'admitted': {
      const { units: unitsMicros, expiresAtMs } = outcome
      const taken = takenMicros(outcome, usedElsewhere)
      const left = creditsLeft(outcome, grantedMicros)
      return decided(allowed, taken, left, { id, unitsMicros, creditMicros, expiresAtMs })
    }
  }
}

type Decision = Extract<ReserveOutcome, { kind: 'admitted' | 'denied' }>

function creditsLeft({ takenTogether }: Decision, grantedMicros: bigint): bigint {
  if (takenTogether === undefined) return 0n
  return spendableMicros({
    grantedMicros,
    spentMicros: takenTogether.used + takenTogether.reserved,
  })
}

function takenMicros({ taken }: Decision, usedElsewhere: bigint): bigint {
  return taken.used + taken.reserved + usedElsewhere
}

function decided(
  allowed: Allowed,
  taken: bigint,
  creditMicros: bigint,
  reservation?: Reservation,
): ReservedUsage {
  return { kind: 'decided', ...allowed, takenMicros: taken, creditMicros, reservation }
}
