import { setTimeout as sleep } from 'node:timers/promises'
import type { CallRecord } from './call-record.ts'

/** What ingest said of a batch of one provider. */
export type Sent =
  | {
      readonly kind: 'accepted'
      /** Uses of clients' keys that ingest had before. */
      readonly known: ReadonlySet<CallRecord>
    }
  /** The records cannot be taken, now or later. */
  | { readonly kind: 'refused'; readonly message: string }
  /** The provider cannot be spoken for. An operator can change that. */
  | { readonly kind: 'forbidden'; readonly message: string }
  /** Ingest is away, or busy. `mayBeRecorded`: it may have taken the records all the same. */
  | { readonly kind: 'failed'; readonly message: string; readonly mayBeRecorded: boolean }

export type Waiting = {
  readonly record: CallRecord
  readonly bytes: number
  /** Ingest may have the record from an earlier request, so that knowing it says nothing of other processes. */
  mayBeRecorded?: boolean
}

export type LaneParts = {
  readonly send: (records: readonly CallRecord[]) => Promise<Sent>
  /** `usedElsewhere`: uses of clients' keys that another process has had. */
  readonly onDelivered: (
    entries: readonly Waiting[],
    usedElsewhere: ReadonlySet<CallRecord>,
  ) => void
  /** Sets a record aside that ingest does not take. */
  readonly onRefused: (entry: Waiting, message: string) => void
  readonly onFailure: (message: string, retryMs: number) => void
  /** Whether a provider that is refused shall be given up: others are served meanwhile. */
  readonly givesUp: (forbiddenSinceMs: number) => boolean
  readonly signal: AbortSignal
}

const recordsMax = 500
const bytesMax = 512 * 1024
const retryMsMin = 50
const retryMsMax = 30_000

/** The records of one provider in one environment, in their order, one request at a time. */
export class Lane {
  readonly #parts: LaneParts
  #queue: Waiting[] = []
  #isRunning = false
  /** Records of the next request; smaller while one is looked for that ingest refuses. */
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

  /** Sends until nothing waits, for as long as it takes. Resolves at once if it is sending already. */
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
        // All of a request are recorded, or none: halves are tried until the one is found that is refused.
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

  /** Somewhere between half the pause and all of it, so that many processes do not come back at once. */
  async #wait(message: string): Promise<void> {
    this.#retryMs = Math.min(retryMsMax, Math.max(retryMsMin, this.#retryMs * 2))
    const pauseMs = this.#retryMs * (0.5 + Math.random() / 2)
    this.#parts.onFailure(message, pauseMs)
    await sleep(pauseMs, undefined, { signal: this.#parts.signal, ref: false }).catch(
      () => undefined,
    )
  }
}
