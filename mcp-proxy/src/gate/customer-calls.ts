import type { CallRecord } from '../records/call-record.ts'

type Place = Pick<CallRecord, 'environment' | 'providerId' | 'customerRef' | 'productRef'>

/** State of a customer's calls when ingest was queried for the remaining units. */
export type Reading = {
  readonly unconfirmed: number
  readonly added: number
  readonly holding: number
  readonly holds: number
}

/** Answer of ingest that is reused for further calls until `untilMs`. */
export type RecentLimits = {
  readonly planRef: string
  /** Units that remained, before subtracting the calls in `reading`. */
  readonly remaining: number
  readonly reading: Reading
  /** `askedAtMs` and `untilMs` are milliseconds of `performance.now()`. */
  readonly askedAtMs: number
  readonly untilMs: number
}

/** Entries in memory above which entries without running calls are removed. */
const placesMax = 10_000

/**
 * Counts one customer's calls of this process that ingest may not know yet. Calls without a hold are running, or their records are
 * not delivered yet: ingest does not subtract them from the remaining units. Free repeats hold a unit until their records, which
 * cost nothing, are delivered: ingest subtracts a unit too many.
 */
export class CustomerCalls {
  /** Calls that ingest has not confirmed yet. */
  unconfirmed = 0
  /** Unconfirmed calls whose records are in the journal. */
  journaled = 0
  /** Calls added since this object was created. */
  added = 0
  /** Holds of calls that do not count, and that ingest may not have released yet. */
  releasing = 0
  /** Requests for holds that ingest has not answered yet. */
  holding = 0
  /**
   * Requests for holds sent while calls without a hold are running. A hold that leaves no room for those calls is released again.
   */
  holdingEarly = 0
  /** Requests for holds since this object was created. */
  holds = 0
  recent: RecentLimits | undefined
  /** The query for newer limits that is in progress. */
  refreshing: { readonly ended: Promise<void>; readonly sinceMs: number } | undefined

  add(): void {
    this.unconfirmed++
    this.added++
  }

  /** Removes a call that will have no record that counts. */
  withdraw(): void {
    this.unconfirmed = Math.max(0, this.unconfirmed - 1)
  }

  /** Notes that the record of a call is about to be appended to the journal. */
  journal(): void {
    this.journaled++
  }

  /** Notes that ingest has accepted a record of the journal. */
  confirm(): void {
    if (this.journaled === 0) return
    this.journaled--
    this.withdraw()
  }

  /**
   * Removes the calls whose records are in the journal. Another process has taken the journal over, and counts and delivers them.
   */
  forgetJournaled(): void {
    this.unconfirmed = Math.max(0, this.unconfirmed - this.journaled)
    this.journaled = 0
  }

  /** Counts a request for a hold until `answered` settles. */
  async hold<Answer>(answered: Promise<Answer>): Promise<Answer> {
    this.holding++
    this.holds++
    try {
      return await answered
    } finally {
      this.holding--
    }
  }

  /**
   * Counts a release until `released` settles. Until then, ingest may report that no unit is left although this hold is about to
   * end.
   */
  release(released: Promise<unknown>): void {
    this.releasing++
    void released.finally(() => this.releasing--)
  }

  read(): Reading {
    const { unconfirmed, added, holding, holds } = this
    return { unconfirmed, added, holding, holds }
  }

  /**
   * Returns a lower bound of the units that are left. It subtracts from `remaining` all calls and holds that ingest did not know at
   * the reading, and all that were added later. A call may be subtracted twice, but none is missed.
   */
  left(remaining: number, reading: Reading): number {
    const newHolds = this.holds - reading.holds
    return this.leftBesideHold(remaining, reading) - reading.holding - newHolds
  }

  /**
   * Returns the same bound for a `remaining` that was returned with a hold. It subtracts no other holds that were pending, because
   * each of those is compared by itself when it is granted.
   */
  leftBesideHold(remaining: number, { unconfirmed, added }: Reading): number {
    return remaining - unconfirmed - (this.added - added)
  }
}

/** The calls of each customer and product. If there are too many entries, entries without running calls are removed. */
export class AllCustomerCalls {
  readonly #places = new Map<string, CustomerCalls>()

  of(place: Place): CustomerCalls {
    const key = keyOf(place)
    const known = this.#places.get(key)
    if (known !== undefined) return known
    if (this.#places.size >= placesMax) this.#forgetIdle()
    const calls = new CustomerCalls()
    this.#places.set(key, calls)
    return calls
  }

  /** Adds the call of a record that is in the journal already, or about to be appended. */
  addJournaled(record: CallRecord): void {
    if (!isAwaited(record)) return
    const calls = this.of(record)
    calls.add()
    calls.journal()
  }

  /** Notes that ingest has accepted the record, or that another one takes its place in the journal. */
  confirm(record: CallRecord): void {
    if (isAwaited(record)) this.of(record).confirm()
  }

  forgetJournaled(): void {
    for (const calls of this.#places.values()) calls.forgetJournaled()
  }

  /**
   * Removes idle entries. A call that is admitted at the same moment by limits read from a removed entry is not subtracted
   * anywhere, so the error is at most 1 call per entry.
   */
  #forgetIdle(): void {
    const nowMs = performance.now()
    for (const [key, { unconfirmed, releasing, holding, refreshing, recent }] of this.#places) {
      const isIdle = unconfirmed === 0 && releasing === 0 && holding === 0 && !refreshing
      if (isIdle && (recent?.untilMs ?? 0) < nowMs) this.#places.delete(key)
    }
  }
}

/** Returns whether a call near the cap waits until ingest has accepted this record, because ingest subtracts a wrong number before. */
function isAwaited({ outcome, reservationId, units }: CallRecord): boolean {
  return outcome === 'success' && (reservationId === undefined || units === 0)
}

/** References may contain any character, so JSON keeps the parts of the key apart. */
function keyOf({ environment, providerId, customerRef, productRef }: Place): string {
  return JSON.stringify([environment, providerId, customerRef, productRef])
}
