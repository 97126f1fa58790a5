import { EventLogUnavailableError, type LogAppend } from '../event-log.ts'
import { OutgoingBatch } from './outgoing-batch.ts'
import type { ProducerSession } from './producer-session.ts'
import { describeCode, errorCode, isRetriable, isProducerForgotten } from './wire/error-codes.ts'
import type { ProduceResult } from './wire/requests.ts'

/** A batch whose outcome is known, and the function that reports it to its appends. */
export type Settled = { readonly batch: OutgoingBatch; readonly report: () => void }

const sequenceCount = 2 ** 31
const backoffMinMs = 20
const backoffMaxMs = 500

/**
 * The records of one partition that wait to be sent to its leader, one batch at a time.
 *
 * A batch is sent with the same sequence number until the broker answers for it, and the broker stores one batch per number. So a
 * batch whose acknowledgement was lost is not stored twice. If such a batch is abandoned, it is unknown whether the log has it or
 * will have it. Its number must never be used for other records, because the broker would drop them as duplicates. So the producer
 * session, which owns the number, is abandoned with it.
 */
export class PartitionQueue {
  readonly topic: string
  readonly partition: number
  readonly #batchBytesMax: number
  /** Batches in order. The first may be in flight; the last accepts records unless it is in flight. */
  #batches: OutgoingBatch[] = []
  #hasBegunSend = false
  #isInFlight = false
  #session: ProducerSession | undefined
  #nextSequence = 0
  #failures = 0
  #retryAtMs = 0

  constructor(topic: string, partition: number, batchBytesMax: number) {
    this.topic = topic
    this.partition = partition
    this.#batchBytesMax = batchBytesMax
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0
  }

  get needsSession(): boolean {
    return this.#session === undefined
  }

  /** Returns whether a batch may be sent now. */
  isDue(nowMs: number): boolean {
    return !this.isEmpty && !this.#isInFlight && nowMs >= this.#retryAtMs
  }

  useSession(session: ProducerSession): void {
    this.#session = session
    this.#nextSequence = 0
  }

  /** Copies the record into the last batch, and returns that batch. */
  add({ key, value }: Omit<LogAppend, 'partition'>, receivedAtMs: number, nowMs: number) {
    const batch = this.#openBatch(value.byteLength, nowMs)
    batch.records.add(key, value, receivedAtMs)
    return batch
  }

  /** Returns the batch to send. Requires a session. */
  beginSend(): Buffer {
    this.#hasBegunSend = true
    this.#isInFlight = true
    const firstSequence = this.#nextSequence
    return this.#batches[0]!.records.finish({ ...this.#session!, firstSequence })
  }

  /** Processes the leader's answer for the batch in flight. Returns undefined if the batch must be sent again. */
  settle({ errorCode: code, baseOffset }: ProduceResult, nowMs: number): Settled | undefined {
    this.#isInFlight = false
    // The batch was abandoned while it was in flight.
    if (!this.#hasBegunSend) return undefined
    const batch = this.#batches[0]!
    if (code === errorCode.none) {
      this.#nextSequence = (this.#nextSequence + batch.records.count) % sequenceCount
      this.#failures = 0
      batch.baseOffset = baseOffset
      this.#dropFirst(1)
      return { batch, report: () => batch.kept() }
    }
    if (isProducerForgotten(code)) this.#session = undefined
    if (isRetriable(code) || isProducerForgotten(code)) {
      this.backOff(nowMs)
      return undefined
    }
    this.#dropFirst(1)
    return refusal(batch, `Kafka refuses the records: ${describeCode(code)}`)
  }

  /** Schedules a retry after a request whose outcome is unknown, or that could not be sent. */
  backOff(nowMs: number): void {
    this.#isInFlight = false
    this.#retryAtMs = nowMs + Math.min(backoffMaxMs, backoffMinMs * 2 ** this.#failures++)
  }

  /** Refuses every batch that was started before that time. */
  abandonBefore(startedBeforeMs: number, reason: string): Settled[] {
    const late = this.#batches.filter(({ startedMs }) => startedMs < startedBeforeMs)
    if (late.length === 0) return []
    if (this.#hasBegunSend) this.#session = undefined
    this.#dropFirst(late.length)
    return late.map((batch) => refusal(batch, reason))
  }

  #openBatch(valueBytes: number, nowMs: number): OutgoingBatch {
    const isLastOpen = this.#batches.length > (this.#hasBegunSend ? 1 : 0)
    const last = isLastOpen ? this.#batches.at(-1) : undefined
    if (last !== undefined && last.records.bytes + valueBytes <= this.#batchBytesMax) return last
    const batch = new OutgoingBatch(nowMs)
    this.#batches.push(batch)
    return batch
  }

  #dropFirst(count: number): void {
    this.#batches = this.#batches.slice(count)
    this.#hasBegunSend = false
  }
}

function refusal(batch: OutgoingBatch, reason: string): Settled {
  return { batch, report: () => batch.refused(new EventLogUnavailableError(reason)) }
}
