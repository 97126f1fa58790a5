import { EventLogUnavailableError, type EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'

import type { InFlightLimit } from '../domain/in-flight-limit.ts'
import type { PlacedEvent } from '../domain/placed-event.ts'
import { UnavailableError } from '../domain/unavailable-error.ts'
import type { IngestCounts } from '../metrics.ts'
import { EventEncoder } from './event-encoder.ts'
import type { RecentKeys } from './recent-keys.ts'

export type LogRecorderParts = {
  readonly log: EventLog
  /** Id of the schema of the events in the log. */
  readonly schemaId: number
  readonly hotState: Pick<HotState, 'readMarks'>
  readonly recentKeys: RecentKeys
  readonly inFlight: InFlightLimit
  readonly counts: IngestCounts
}

/** 'duplicate': the idempotency key was used before, and nothing was stored this time. */
export type RecordOutcome = 'recorded' | 'duplicate'

/**
 * Appends events to the log; an event with an idempotency key only if its key is new.
 *
 * A key is new if no request in flight has it, it is not among the recent keys, and the counters projection has set no mark for it.
 * The first two are checked, and the key is registered as pending, without an `await` in between. So of many parallel requests with
 * the same key exactly one continues. That request reads the marks and appends; the others wait for its result. If this process is
 * killed after the append and before the response, a retry finds the key through the mark or in the tail of the log.
 */
export class LogRecorder {
  readonly #parts: LogRecorderParts
  readonly #encoder: EventEncoder
  /** Appends that are in progress, by event id. */
  readonly #pending = new Map<string, Promise<void>>()
  readonly #commits = new WeakMap<Promise<void>, Commit>()

  constructor(parts: LogRecorderParts) {
    this.#parts = parts
    this.#encoder = new EventEncoder(parts.schemaId)
  }

  /** The event is durable once this resolves. Rejects with UnavailableError when nothing was kept. */
  record(environment: Environment, placed: PlacedEvent): Promise<RecordOutcome> {
    if (!isKeyed(placed)) return this.#appendOne(environment, placed)
    return this.recordAll(environment, [placed]).then(([outcome]) => outcome!)
  }

  /**
   * Records all or none, and returns outcomes in input order. A key that occurs twice in the list is a duplicate the second time.
   * Throws, or rejects, with UnavailableError when nothing was kept.
   */
  recordAll(environment: Environment, places: readonly PlacedEvent[]): Promise<RecordOutcome[]> {
    if (places.some(isKeyed)) return this.#recordKeyed(environment, places)
    return this.#appendAll(environment, places).then((offsets) => {
      this.#parts.counts.accepted += offsets.length
      return offsets.map(() => 'recorded')
    })
  }

  async #recordKeyed(
    environment: Environment,
    places: readonly PlacedEvent[],
  ): Promise<RecordOutcome[]> {
    // If a pending append of the same key fails, this request fails too: all requests that came with one key at the same time get
    // one result.
    for (
      let pending = this.#pendingOf(places);
      pending.size > 0;
      pending = this.#pendingOf(places)
    ) {
      await Promise.all(pending)
    }
    // There must be no `await` between the last check of pending appends and the new entries in #pending.
    const outcomes = this.#outcomesOf(environment, places)
    const fresh = places.filter((_, index) => outcomes[index] === 'recorded')
    if (fresh.length === 0) {
      this.#parts.counts.duplicates += places.length
      return outcomes
    }
    const keyed = fresh.filter(isKeyed)
    const marked = new Set<string>()
    const work = this.#appendUnmarked(environment, fresh, keyed, marked)
    for (const { event } of keyed) this.#pending.set(event.id, work)
    try {
      await work
    } finally {
      for (const { event } of keyed) this.#pending.delete(event.id)
    }
    const final = outcomes.map((outcome, index): RecordOutcome =>
      marked.has(places[index]!.event.id) ? 'duplicate' : outcome,
    )
    this.#parts.counts.duplicates += final.filter((outcome) => outcome === 'duplicate').length
    return final
  }

  #appendOne(
    environment: Environment,
    { event, partition, subject }: PlacedEvent,
  ): Promise<RecordOutcome> {
    const { log, inFlight } = this.#parts
    const value = this.#encoder.encode(event)
    const bytes = value.byteLength
    inFlight.enter(1, bytes)
    const topic = usageTopic(environment)
    const durable = log.append(topic, partition, value, event.receivedAt, subject)
    // The log returns the same promise for all records of one commit, so their accounting is done once.
    let commit = this.#commits.get(durable)
    if (commit === undefined) {
      commit = this.#beginCommit(durable)
      this.#commits.set(durable, commit)
    }
    commit.count += 1
    commit.bytes += bytes
    return commit.outcome
  }

  #beginCommit(durable: Promise<void>): Commit {
    const { inFlight, counts } = this.#parts
    const startedMs = performance.now()
    const commit: Commit = {
      count: 0,
      bytes: 0,
      outcome: durable.then(
        () => {
          inFlight.leave(commit.count, commit.bytes)
          counts.accepted += commit.count
          counts.observeAppend(performance.now() - startedMs)
          return 'recorded'
        },
        (error: unknown) => {
          inFlight.leave(commit.count, commit.bytes)
          throw asUnavailable(error)
        },
      ),
    }
    return commit
  }

  #pendingOf(places: readonly PlacedEvent[]): Set<Promise<void>> {
    const pending = new Set<Promise<void>>()
    if (this.#pending.size === 0) return pending
    for (const { event } of places) {
      const append = this.#pending.get(event.id)
      if (append !== undefined) pending.add(append)
    }
    return pending
  }

  #outcomesOf(environment: Environment, places: readonly PlacedEvent[]): RecordOutcome[] {
    const seen = new Set<string>()
    return places.map((place) => {
      const { id } = place.event
      const isKnown = seen.has(id) || (isKeyed(place) && this.#isRecent(environment, place))
      seen.add(id)
      return isKnown ? 'duplicate' : 'recorded'
    })
  }

  #isRecent(environment: Environment, place: PlacedEvent): boolean {
    const { recentKeys } = this.#parts
    return partitionsOf(place).some((each) => recentKeys.has(environment, each, place.event.id))
  }

  /** Throws UnavailableError if so many more would be refused now: the caller then begins nothing that it could not finish. */
  requireCapacity(count: number): void {
    const { inFlight } = this.#parts
    inFlight.enter(count, 0)
    inFlight.leave(count, 0)
  }

  /** Returns the ids of those whose idempotency key is known to have been used: recording them would store nothing. */
  async listKnown(
    environment: Environment,
    places: readonly PlacedEvent[],
  ): Promise<ReadonlySet<string>> {
    const keyed = places.filter(isKeyed)
    const known = new Set<string>()
    for (const place of keyed) if (this.#isRecent(environment, place)) known.add(place.event.id)
    await this.#collectMarked(environment, keyed, known)
    return known
  }

  async #appendUnmarked(
    environment: Environment,
    fresh: readonly PlacedEvent[],
    keyed: readonly PlacedEvent[],
    marked: Set<string>,
  ): Promise<void> {
    await this.#collectMarked(environment, keyed, marked)
    const wanted = fresh.filter(({ event }) => !marked.has(event.id))
    if (wanted.length === 0) return
    const offsets = await this.#appendAll(environment, wanted)
    const { recentKeys, counts } = this.#parts
    counts.accepted += wanted.length
    wanted.forEach((place, index) => {
      if (!isKeyed(place)) return
      recentKeys.add(environment, place.partition, place.event.id, offsets[index]!)
    })
  }

  async #collectMarked(
    environment: Environment,
    keyed: readonly PlacedEvent[],
    marked: Set<string>,
  ): Promise<void> {
    const collect = async (partition: number, ids: readonly string[]): Promise<void> => {
      try {
        const marks = await this.#parts.hotState.readMarks(environment, partition, ids)
        ids.forEach((id, index) => {
          if (marks[index] !== undefined) marked.add(id)
        })
      } catch (cause) {
        // The key may have been used in the other partition, and both records would count.
        if (keyed.some(({ otherPartition }) => otherPartition !== undefined)) {
          throw new UnavailableError('Whether the key was used cannot be told now', { cause })
        }
        // Without marks a duplicate cannot be detected. Appending is safe, since only the first offset of a key counts. Refusing
        // would lose usage while the hot state cannot be read.
        this.#parts.counts.unreadMarks += ids.length
      }
    }
    await Promise.all([...idsByPartition(keyed)].map(([partition, ids]) => collect(partition, ids)))
  }

  /** Keeps no event while the log writes. */
  #appendAll(environment: Environment, places: readonly PlacedEvent[]): Promise<number[]> {
    const { log, inFlight, counts } = this.#parts
    const values = this.#encoder.encodeAll(places.map(({ event }) => event))
    const bytes = values.reduce((sum, value) => sum + value.byteLength, 0)
    const records = places.map(({ partition, subject }, index) => {
      return { partition, value: values[index]!, key: subject }
    })
    const count = places.length
    inFlight.enter(count, bytes)
    const startedMs = performance.now()
    const end = (): void => {
      inFlight.leave(count, bytes)
      counts.observeAppend(performance.now() - startedMs)
    }
    return log.appendAll(usageTopic(environment), records, places[0]!.event.receivedAt).then(
      (offsets) => {
        end()
        return offsets
      },
      (error: unknown) => {
        end()
        throw asUnavailable(error)
      },
    )
  }
}

/** The records without a key that are appended to the log in the same commit. */
type Commit = {
  readonly outcome: Promise<RecordOutcome>
  count: number
  bytes: number
}

function isKeyed({ event }: PlacedEvent): boolean {
  return event.idempotencyKey !== null
}

function idsByPartition(places: readonly PlacedEvent[]): Map<number, string[]> {
  const byPartition = new Map<number, string[]>()
  for (const place of places) {
    for (const partition of partitionsOf(place)) {
      const ids = byPartition.get(partition)
      if (ids === undefined) byPartition.set(partition, [place.event.id])
      else ids.push(place.event.id)
    }
  }
  return byPartition
}

/** Returns the partitions in which the key of the event may have been used. */
function partitionsOf({ partition, otherPartition }: PlacedEvent): number[] {
  return otherPartition === undefined || otherPartition === partition
    ? [partition]
    : [partition, otherPartition]
}

function asUnavailable(error: unknown): unknown {
  if (!(error instanceof EventLogUnavailableError)) return error
  return new UnavailableError('Usage cannot be recorded now, try again', { cause: error })
}
