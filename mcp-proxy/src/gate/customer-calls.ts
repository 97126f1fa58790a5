import type { CallRecord } from '../records/call-record.ts'

type Place = Pick<CallRecord, 'environment' | 'providerId' | 'customerRef' | 'productRef'>

/** What was known of a customer's calls when ingest was asked what remains. */
export type Reading = {
  readonly unconfirmed: number
  readonly added: number
  readonly holding: number
  readonly holds: number
}

/** What ingest said, for as long as it is used for further calls. */
export type RecentLimits = {
  readonly planRef: string
  /** Units that remained, without the calls of `reading`. */
  readonly remaining: number
  readonly reading: Reading
  /** Both by `performance.now()`. */
  readonly askedAtMs: number
  readonly untilMs: number
}

/** Places in memory before those without calls are forgotten. */
const placesMax = 10_000

/**
 * Calls of this process without a hold that count for a customer and that ingest may not know of: those that run, and those whose
 * records are on their way. Ingest does not subtract them from what it says remains.
 */
export class CustomerCalls {
  /** Not confirmed by ingest yet. */
  unconfirmed = 0
  /** Those of them whose records are in the journal. */
  journaled = 0
  /** All so far. */
  added = 0
  /** Holds of calls that do not count, and that ingest may not have released yet. */
  releasing = 0
  /** Requests for holds that ingest has not answered yet. */
  holding = 0
  /** Those of them that are sent while calls without a hold run: a hold that leaves those no room is released again. */
  holdingEarly = 0
  /** All requests for holds so far. */
  holds = 0
  recent: RecentLimits | undefined
  /** Ingest is being asked for what later calls will need. */
  isAsking = false

  add(): void {
    this.unconfirmed++
    this.added++
  }

  /** The call will have no record that counts. */
  withdraw(): void {
    this.unconfirmed = Math.max(0, this.unconfirmed - 1)
  }

  /** The record of the call is about to be in the journal. */
  journal(): void {
    this.journaled++
  }

  /** Ingest knows of a record of the journal. */
  confirm(): void {
    if (this.journaled === 0) return
    this.journaled--
    this.withdraw()
  }

  /** Another process delivers what is in the journal, as calls that it has admitted itself. */
  forgetJournaled(): void {
    this.unconfirmed = Math.max(0, this.unconfirmed - this.journaled)
    this.journaled = 0
  }

  /** Ingest is asked for a hold until `answered` has ended. */
  async hold<Answer>(answered: Promise<Answer>): Promise<Answer> {
    this.holding++
    this.holds++
    try {
      return await answered
    } finally {
      this.holding--
    }
  }

  /** Until `released` has ended, ingest may say that nothing is left because of a hold that is about to end. */
  release(released: Promise<unknown>): void {
    this.releasing++
    void released.finally(() => this.releasing--)
  }

  read(): Reading {
    const { unconfirmed, added, holding, holds } = this
    return { unconfirmed, added, holding, holds }
  }

  /**
   * Units that are left at least: of what remained at the reading, none of the calls and holds is used that ingest did not know of
   * by then, or that came since. Some of those may be subtracted twice, never none of them.
   */
  left(remaining: number, reading: Reading): number {
    const newHolds = this.holds - reading.holds
    return this.leftBesideHold(remaining, reading) - reading.holding - newHolds
  }

  /** The same of what remained beside a hold: of the holds that ingest had not granted by then, each is compared by itself. */
  leftBesideHold(remaining: number, { unconfirmed, added }: Reading): number {
    return remaining - unconfirmed - (this.added - added)
  }
}

/** The calls of each customer and product. When there are many, entries without running calls are forgotten. */
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

  forgetJournaled(): void {
    for (const calls of this.#places.values()) calls.forgetJournaled()
  }

  /** A call that is admitted meanwhile on what was read of a forgotten place is subtracted from nothing: a bound of one call each. */
  #forgetIdle(): void {
    const nowMs = performance.now()
    for (const [key, { unconfirmed, releasing, holding, recent }] of this.#places) {
      const isIdle = unconfirmed === 0 && releasing === 0 && holding === 0
      if (isIdle && (recent?.untilMs ?? 0) < nowMs) this.#places.delete(key)
    }
  }
}

/** References may hold any character. */
function keyOf({ environment, providerId, customerRef, productRef }: Place): string {
  return JSON.stringify([environment, providerId, customerRef, productRef])
}
