import { setTimeout as sleep } from 'node:timers/promises'
import type { CallRecord } from './call-record.ts'

/** Answer of ingest to a batch of one provider. */
export type Sent =
  | {
      readonly kind: 'accepted'
      /** Records with a client key that ingest already had. */
      readonly known: ReadonlySet<CallRecord>
    }
  /** Ingest refuses the records permanently. */
  | { readonly kind: 'refused'; readonly message: string }
  /** Ingest refuses the service key of this provider. An operator can fix that. */
  | { readonly kind: 'forbidden'; readonly message: string }
  /** Ingest is unavailable or busy. `mayBeRecorded`: it may have stored the records despite the error. */
  | { readonly kind: 'failed'; readonly message: string; readonly mayBeRecorded: boolean }

export type Waiting = {
  readonly record: CallRecord
  readonly bytes: number
  /**
   * Whether ingest may have the record from an earlier request. A duplicate then does not prove that another process used the key.
   */
  mayBeRecorded?: boolean
}

export type LaneParts = {
  readonly send: (records: readonly CallRecord[]) => Promise<Sent>
  /** `usedElsewhere` are the records whose use of a client's key another process has already had. */
  readonly onDelivered: (
    entries: readonly Waiting[],
    usedElsewhere: ReadonlySet<CallRecord>,
  ) => void
  /** Sets aside a record that ingest refuses. */
  readonly onRefused: (entry: Waiting, message: string) => void
  readonly onFailure: (message: string, retryMs: number) => void
  /** Returns whether the records of a refused provider are set aside, because ingest accepts the records of others. */
  readonly givesUp: (forbiddenSinceMs: number) => boolean
  readonly signal: AbortSignal
}

const recordsMax = 500
const bytesMax = 512 * 1024
const retryMsMin = 50
const retryMsMax = 30_000

/** Sends the records of one provider in one environment, in their order, with 1 request at a time. */
export class Lane {
  readonly #parts: LaneParts
  #queue: Waiting[] = []
  #isRunning = false
  /** Maximum records of the next request. It is reduced while the lane searches for a record that ingest refuses. */
  #batchMax = recordsMax
  #retryMs = 0
  #forbiddenSinceMs: number | undefined

  constructor(parts: LaneParts) {
    this.#parts = parts
  }

  get isIdle(): boolean {
    return !this.#isRunning
  }

  push(entry: Waiting): void {
    this.#queue.push(entry)
  }

  /** Sends until the queue is empty. Returns immediately if another run is in progress. */
  async run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    try {
      while (this.#queue.length > 0 && !this.#parts.signal.aborted) await this.#sendBatch()
    } finally {
      this.#isRunning = false
    }
  }

  async #sendBatch(): Promise<void> {
    const batch = this.#nextBatch()
    const sent = await this.#parts.send(batch.map(({ record }) => record))
    switch (sent.kind) {
      case 'accepted':
        this.#succeed(batch, sent.known)
        return
      case 'refused':
        // Ingest records all records of a request or none. Halve the batch until the refused record is found.
        if (batch.length > 1) this.#batchMax = Math.ceil(batch.length / 2)
        else await this.#refuse(batch[0]!, sent.message)
        return
      case 'forbidden':
        this.#forbiddenSinceMs ??= performance.now()
        if (this.#parts.givesUp(this.#forbiddenSinceMs)) await this.#refuse(batch[0]!, sent.message)
        else await this.#wait(sent.message)
        return
      case 'failed':
        if (sent.mayBeRecorded) for (const entry of batch) entry.mayBeRecorded = true
        await this.#wait(sent.message)
    }
  }

  #nextBatch(): Waiting[] {
    let bytes = 0
    const end = this.#queue.findIndex((entry, index) => {
      bytes += entry.bytes
      return index > 0 && (index >= this.#batchMax || bytes > bytesMax)
    })
    return this.#queue.slice(0, end === -1 ? undefined : end)
  }

  #succeed(batch: readonly Waiting[], known: ReadonlySet<CallRecord>): void {
    this.#queue.splice(0, batch.length)
    this.#batchMax = Math.min(recordsMax, this.#batchMax * 2)
    this.#retryMs = 0
    this.#forbiddenSinceMs = undefined
    const certain = batch.filter(({ record, mayBeRecorded }) => known.has(record) && !mayBeRecorded)
    this.#parts.onDelivered(batch, new Set(certain.map(({ record }) => record)))
  }

  async #refuse(entry: Waiting, message: string): Promise<void> {
    try {
      this.#parts.onRefused(entry, message)
    } catch (error) {
      await this.#wait(`a refused record cannot be set aside: ${String(error)}`)
      return
    }
    this.#queue.shift()
  }

  /** Waits between half of the pause and the full pause, so that many processes do not retry at the same time. */
  async #wait(message: string): Promise<void> {
    this.#retryMs = Math.min(retryMsMax, Math.max(retryMsMin, this.#retryMs * 2))
    const pauseMs = this.#retryMs * (0.5 + Math.random() / 2)
    this.#parts.onFailure(message, pauseMs)
    await sleep(pauseMs, undefined, { signal: this.#parts.signal, ref: false }).catch(
      () => undefined,
    )
  }
}
