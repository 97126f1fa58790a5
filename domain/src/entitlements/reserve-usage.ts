import { randomBytes } from 'node:crypto'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type {
  ReserveOutcome,
  ReserveRequest,
  UsedElsewhere,
} from '@tollgate/platform/hot-state/reservations'
import { windowId, type Entitlement } from '@tollgate/schemas/hot-state/documents'
import {
  keyedReservationReference,
  randomReservationReference,
} from '@tollgate/schemas/reservation-reference'
import { carriedOverMicros } from './carried-over.ts'
import {
  entitlementOf,
  isBehind,
  readAgain,
  readReference,
  sumAmounts,
} from './counted-usage-reader.ts'
import { currentPeriod } from './counting-windows.ts'
import { UsageBehindError } from './usage-behind-error.ts'
import type { Reading, UsageParts, UsageQuery } from './usage-query.ts'

export type ReserveQuery = Omit<UsageQuery, 'tailRecordsMax' | 'customerRefs'> & {
  readonly unitsMicros: bigint
  readonly ttlMs: number
  /** Undefined or empty: the reservation is a new one each time. */
  readonly idempotencyKey: string | undefined
  /** Which period it is. */
  readonly nowMs: number
  readonly reservationsMax: number
}

export type ReservedUsage =
  /** No published purchase answers for now, and the control plane must be asked. */
  | { readonly kind: 'unknown' }
  /** The customer's wallet pays as it is used, and there are no units to reserve: a plain check says what it pays for. */
  | { readonly kind: 'paid' }
  /** The customer has as many reservations of the product as there may be. */
  | { readonly kind: 'full' }
  | {
      readonly kind: 'decided'
      readonly entitlement: Entitlement
      /** What is used and what is reserved, over all references of the customer, with what was reserved now. */
      readonly takenMicros: bigint
      readonly carriedOverMicros: bigint
      /** Undefined: denied, and nothing is reserved. */
      readonly reservation: Reservation | undefined
    }

export type Reservation = {
  readonly id: string
  readonly unitsMicros: bigint
  readonly expiresAtMs: number
}

/**
 * Reserves units of a customer's cap, beside all that was used and acknowledged before the call and all that is
 * reserved. A reservation is kept at the customer's own reference, so that those who ask under different references
 * meet. What other partitions have counted for the customer is read before; HotState refuses what was read too early to
 * see the usage of a reservation that it does not hold any more ('behind'), and then all is read again.
 *
 * Which references the customer has is said by the entry of its own one, which is published last. What follows from it
 * is refused in the same way once another is published, so that usage under a reference that is linked meanwhile is seen.
 *
 * The log's tail is not added as in a plain check: what it would settle is not settled yet. Throws UsageBehindError
 * when the counters do not come in time.
 */
export async function reserveUsage(parts: UsageParts, query: ReserveQuery): Promise<ReservedUsage> {
  // Real time, not the clock of the business: a test that stops that one must not stop this loop's end.
  const deadline = performance.now() + query.waitMs
  const references = new References(parts, query)
  for (;;) {
    const asked = await references.read(query.customerRef)
    const ownRef = entitlementOf(parts, asked)?.customerRef ?? asked.customerRef
    const own = ownRef === asked.customerRef ? asked : await references.read(ownRef)
    const entitlement = entitlementOf(parts, own)
    const period = entitlement && currentPeriod(entitlement, query.nowMs)
    if (entitlement === undefined || period === undefined) return { kind: 'unknown' }
    if (entitlement.credit !== null) return { kind: 'paid' }

    const readings = await references.readOthers([own, asked], entitlement.customerRefs)
    const here = readings.filter(({ at }) => at.partition === own.at.partition)
    const elsewhere = readings.filter((reading) => !here.includes(reading))
    // HotState sees to the counters of the current period here, and not to those that say what it was left.
    const readFirst = entitlement.rollOver === undefined ? elsewhere : readings
    if (!readFirst.some(isBehind)) {
      const window = windowId(entitlement.purchaseRef, period.startSecond)
      const used = usedIn(elsewhere, window)
      const carried = carriedOverMicros(entitlement, period, sumAmounts(readings), query.nowMs)
      const allowed = { entitlement, carriedOverMicros: carried }
      const request = requestOf(query, allowed, own, here, window)
      const outcome = await parts.hotState.reserve({ ...request, elsewhere: used })
      const answer = answerOf(outcome, allowed, request.reservationId, used.amount)
      if (answer !== 'behind') return answer
    }
    await waitForCounters(parts.hotState, readings, deadline)
  }
}

/** A reference is behind, or not, what its partition's log held when it was first read: that was acknowledged before. */
class References {
  readonly #parts: UsageParts
  readonly #query: ReserveQuery
  readonly #known = new Map<string, Reading>()

  constructor(parts: UsageParts, query: ReserveQuery) {
    this.#parts = parts
    this.#query = query
  }

  async read(customerRef: string): Promise<Reading> {
    const known = this.#known.get(customerRef)
    const reading = await (known === undefined
      ? readReference(this.#parts, this.#query, customerRef)
      : readAgain(this.#parts, this.#query, known))
    this.#known.set(customerRef, reading)
    return reading
  }

  /** Those that were read already, and all others. */
  async readOthers(known: readonly Reading[], customerRefs: readonly string[]): Promise<Reading[]> {
    const readings = new Map(known.map((reading) => [reading.customerRef, reading]))
    const others = customerRefs.filter((ref) => !readings.has(ref))
    return [...readings.values(), ...(await Promise.all(others.map((ref) => this.read(ref))))]
  }
}

/** Together they make the cap. */
type Allowed = Pick<
  Extract<ReservedUsage, { kind: 'decided' }>,
  'entitlement' | 'carriedOverMicros'
>

function requestOf(
  query: ReserveQuery,
  { entitlement: { cap }, carriedOverMicros: carried }: Allowed,
  { customerRef, at, view }: Reading,
  here: readonly Reading[],
  window: string,
): Omit<ReserveRequest, 'elsewhere'> {
  const { environment, providerId, productRef, idempotencyKey = '' } = query
  const place = { customerRef, productRef }
  return {
    at,
    document: view.document,
    reservationId:
      idempotencyKey === ''
        ? randomReservationReference(place, randomBytes)
        : keyedReservationReference(environment, providerId, place, idempotencyKey),
    units: query.unitsMicros,
    takes: 'all',
    ttlMs: query.ttlMs,
    subjects: here.map(({ at }) => at.subject),
    series: query.meterName,
    windowId: window,
    cap: cap === null ? null : BigInt(cap) + carried,
    minOffset: Math.max(...here.map(({ head }) => head)),
    isReservedFirst: false,
    reservationsMax: query.reservationsMax,
  }
}

function usedIn(readings: readonly Reading[], window: string): UsedElsewhere {
  let amount = 0n
  const appliedOffsets = new Map<number, number>()
  for (const { at, view } of readings) {
    amount += view.amounts.get(window) ?? 0n
    const offset = appliedOffsets.get(at.partition) ?? view.appliedOffset
    appliedOffsets.set(at.partition, Math.min(offset, view.appliedOffset))
  }
  return { amount, appliedOffsets }
}

function answerOf(
  outcome: ReserveOutcome,
  allowed: Allowed,
  id: string,
  usedElsewhere: bigint,
): ReservedUsage | 'behind' {
  switch (outcome.kind) {
    case 'behind':
      return 'behind'
    case 'full':
      return { kind: 'full' }
    case 'denied':
      return decided(allowed, takenMicros(outcome, usedElsewhere))
    case 'admitted': {
      const { units: unitsMicros, expiresAtMs } = outcome
      const taken = takenMicros(outcome, usedElsewhere)
      return decided(allowed, taken, { id, unitsMicros, expiresAtMs })
    }
  }
}

function takenMicros(
  { taken }: Extract<ReserveOutcome, { kind: 'admitted' | 'denied' }>,
  usedElsewhere: bigint,
): bigint {
  return taken.used + taken.reserved + usedElsewhere
}

function decided(allowed: Allowed, taken: bigint, reservation?: Reservation): ReservedUsage {
  return { kind: 'decided', ...allowed, takenMicros: taken, reservation }
}

/** How long it takes until a reading that was too early has a better one. */
const readAgainAfterMs = 2

async function waitForCounters(
  hotState: Pick<HotState, 'waitForApply'>,
  readings: readonly Reading[],
  deadline: number,
): Promise<void> {
  const leftMs = deadline - performance.now()
  const behind = readings.filter(isBehind)
  if (leftMs <= 0) {
    throw new UsageBehindError(
      behind.reduce((sum, { head, view }) => sum + head - view.appliedOffset, 0),
    )
  }
  await hotState.waitForApply(behind.length > 0 ? leftMs : Math.min(leftMs, readAgainAfterMs))
}
