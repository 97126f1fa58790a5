import type { Logger } from '@tollgate/platform/observability/logger'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallRecord } from './call-record.ts'
import type { Journal } from './journal.ts'
import type { JournalPlace } from './journal-place.ts'
import { Lane, type Sent, type Waiting } from './lane.ts'
import type { RecordMetrics } from './metrics.ts'

export type DeliveryParts = {
  readonly journal: Journal
  /** Sends records of one provider and environment. */
  readonly send: (records: readonly CallRecord[]) => Promise<Sent>
  /** Saves a record that ingest refuses permanently, for an operator. Throws if the record cannot be saved. */
  readonly setAside: (record: CallRecord, message: string) => void
  /** Called when ingest has accepted the record. */
  readonly onRecorded: (record: CallRecord) => void
  /** Called when another process has already used this number of a client's key. Appends the record with a later number. */
  readonly onUsedElsewhere: (record: CallRecord) => void
  readonly metrics: RecordMetrics
  readonly logger: Logger
}

/**
 * Maximum records that are read but not delivered. The window is large so that waiting records of one provider do not delay the
 * others.
 */
const windowRecordsMax = 50_000
const windowBytesMax = 64 * 1024 * 1024

/**
 * Records of calls that end within this time are sent together. A request costs the services behind about as much as 10 records. A
 * customer near the cap waits for this time once.
 */
const gatherMs = 25

/** How long ingest may refuse the key of one provider, while it accepts records of others, before the records are set aside. */
const forbiddenMsMax = 3_600_000

/** A record in the window, in the order of the journal. */
type Entry = Waiting & { readonly next: JournalPlace; isDone: boolean }

/**
 * Reads the journal and sends its records to ingest, with a separate lane for each provider. The acknowledged position stays before
 * the first undelivered record. After a restart, records behind it are sent again with the same keys.
 */
export class Delivery {
  readonly #parts: DeliveryParts
  readonly #lanes = new Map<string, Lane>()
  readonly #abort = new AbortController()
  #window: Entry[] = []
  #windowBytes = 0
  #place: JournalPlace = { segment: 0, offset: 0 }
  #timer: NodeJS.Timeout | undefined
  #recordedAtMs = 0
  #isAbandoned = false

  constructor(parts: DeliveryParts) {
    this.#parts = parts
  }

  /** Schedules a read of the journal. */
  wake(): void {
    if (this.#abort.signal.aborted) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#pump()
    }, gatherMs)
  }

  /** Returns the age of the oldest undelivered record, in milliseconds. */
  oldestAgeMs(nowMs: number): number {
    const oldest = this.#window.find(({ isDone }) => !isDone)
    return oldest === undefined ? 0 : Math.max(0, nowMs - oldest.record.acceptedAtMs)
  }

  /** Waits up to `graceMs` for ingest to accept the remaining records. Records that are left are delivered after the next start. */
  async stop(graceMs: number): Promise<void> {
    const until = performance.now() + graceMs
    while (!this.#parts.journal.isDrained && performance.now() < until) {
      this.wake()
      await sleep(gatherMs)
    }
    this.#abort.abort()
    clearTimeout(this.#timer)
  }

  /** Ends the delivery because another process now delivers the records of this journal. Answers that arrive later are ignored. */
  abandon(): void {
    this.#isAbandoned = true
    this.#abort.abort()
    clearTimeout(this.#timer)
  }

  #pump(): void {
    const { journal, metrics, logger } = this.#parts
    try {
      while (this.#window.length < windowRecordsMax && this.#windowBytes < windowBytesMax) {
        const records = journal.read(this.#place)
        if (records.length === 0) break
        for (const { record, bytes, next } of records) {
          this.#place = next
          this.#windowBytes += bytes
          // A damaged line contains no record to deliver, so it is skipped.
          const isDone = record === undefined
          if (isDone) metrics.damaged.inc()
          const entry = { record: record!, bytes, next, isDone }
          this.#window.push(entry)
          if (!isDone) this.#laneOf(entry.record).push(entry)
        }
      }
    } catch (error) {
      logger.error({ err: error }, 'the journal of calls cannot be read')
      return
    }
    this.#advance()
    for (const lane of this.#lanes.values()) this.#run(lane)
  }

  #run(lane: Lane): void {
    if (!lane.isIdle) return
    lane.run().catch((error: unknown) => {
      this.#parts.logger.error({ err: error }, 'records of calls cannot be delivered')
      this.wake()
    })
  }

  #laneOf({ environment, providerId }: CallRecord): Lane {
    const key = `${environment}/${providerId}`
    const lane = this.#lanes.get(key) ?? this.#openLane()
    this.#lanes.set(key, lane)
    return lane
  }

  #openLane(): Lane {
    const { send, setAside, onRecorded, onUsedElsewhere, metrics, logger } = this.#parts
    return new Lane({
      send,
      signal: this.#abort.signal,
      onDelivered: (entries, usedElsewhere) => {
        if (this.#isAbandoned) return
        this.#recordedAtMs = performance.now()
        metrics.delivered.inc(entries.length)
        for (const { record } of entries) {
          // Append the record with its later number before the first one is acknowledged. After a crash in between, the use is
          // free.
          if (usedElsewhere.has(record)) onUsedElsewhere(record)
          else onRecorded(record)
        }
        this.#finish(entries)
      },
      onRefused: (entry, message) => {
        if (this.#isAbandoned) return
        const { environment, providerId, callId } = entry.record
        setAside(entry.record, message)
        metrics.refused.inc()
        logger.error(
          { environment, providerId, callId, reason: message },
          'ingest refuses a record',
        )
        onRecorded(entry.record)
        this.#finish([entry])
      },
      onFailure: (reason, retryMs) => {
        metrics.failures.inc()
        logger.warn({ reason, retryMs }, 'records of calls are not delivered yet')
      },
      givesUp: (sinceMs) =>
        performance.now() - sinceMs > forbiddenMsMax && this.#recordedAtMs > sinceMs,
    })
  }

  #finish(entries: readonly Waiting[]): void {
    for (const entry of entries) (entry as Entry).isDone = true
    this.#advance()
    // The window may have room for more records now.
    this.wake()
  }

  #advance(): void {
    const firstOpen = this.#window.findIndex(({ isDone }) => !isDone)
    const count = firstOpen === -1 ? this.#window.length : firstOpen
    if (count === 0) return
    const done = this.#window.splice(0, count)
    const bytes = done.reduce((sum, entry) => sum + entry.bytes, 0)
    this.#windowBytes -= bytes
    this.#parts.journal.acknowledge(done.at(-1)!.next, bytes)
  }
}
