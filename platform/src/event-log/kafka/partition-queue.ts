import { EventLogUnavailableError, type LogAppend } from '../event-log.ts'
import { OutgoingBatch } from './outgoing-batch.ts'
import type { ProducerSession } from './producer-session.ts'
import { describeCode, errorCode, isPassing, isProducerForgotten } from './wire/error-codes.ts'
import type { ProduceResult } from './wire/requests.ts'

/** A batch whose fate is known, and how to tell those who wait for it. */
export type Settled = { readonly batch: OutgoingBatch; readonly tell: () => void }

const sequenceCount = 2 ** 31
const backoffMinMs = 20
const backoffMaxMs = 500

/**
 * The records of one partition on their way to its leader, one batch at a time.
 *
 * The batch in hand is sent under the same number until the broker has answered for it, and the broker keeps one copy of
 * what comes under one number. So a batch that was written and whose answer was lost is not written again. If we give
 * such a batch up, nobody knows whether the log has it or will have it; its number must never carry other records, which
 * the broker would take for the same ones and drop. So the number's owner, the producer session, goes with it.
 */
export class PartitionQueue {
  readonly topic: string
  readonly partition: number
  readonly #batchBytesMax: number
  /** The first may be in hand; the last takes records as long as it is not. */
  #batches: OutgoingBatch[] = []
  #isInHand = false
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

  /** Whether there is something that may be sent now. */
  isDue(nowMs: number): boolean {
    return !this.isEmpty && !this.#isInFlight && nowMs >= this.#retryAtMs
  }

  useSession(session: ProducerSession): void {
    this.#session = session
    this.#nextSequence = 0
  }

  /** Copies the record into the batch that it returns; it is the last one there. */
  add({ key, value }: Omit<LogAppend, 'partition'>, receivedAtMs: number, nowMs: number) {
    const batch = this.#openBatch(value.byteLength, nowMs)
    batch.records.add(key, value, receivedAtMs)
    return batch
  }

  /** The batch to send. A session must be there. */
  takeInHand(): Buffer {
    this.#isInHand = true
    this.#isInFlight = true
    const firstSequence = this.#nextSequence
    return this.#batches[0]!.records.finish({ ...this.#session!, firstSequence })
  }

  /** The leader has answered for the batch in hand. Undefined: it stays in hand, to be sent again. */
  settle({ errorCode: code, baseOffset }: ProduceResult, nowMs: number): Settled | undefined {
    this.#isInFlight = false
    // Given up while it was on its way.
    if (!this.#isInHand) return undefined
    const batch = this.#batches[0]!
    if (code === errorCode.none) {
      this.#nextSequence = (this.#nextSequence + batch.records.count) % sequenceCount
      this.#failures = 0
      batch.baseOffset = baseOffset
      this.#dropFirst(1)
      return { batch, tell: () => batch.kept() }
    }
    if (isProducerForgotten(code)) this.#session = undefined
    if (isPassing(code) || isProducerForgotten(code)) {
      this.backOff(nowMs)
      return undefined
    }
    this.#dropFirst(1)
    return refusal(batch, `Kafka refuses the records: ${describeCode(code)}`)
  }

  /** Nobody knows what became of the request, or it could not be sent. */
  backOff(nowMs: number): void {
    this.#isInFlight = false
    this.#retryAtMs = nowMs + Math.min(backoffMaxMs, backoffMinMs * 2 ** this.#failures++)
  }

  /** Refuses every batch that was begun before then. */
  giveUp(startedBeforeMs: number, reason: string): Settled[] {
    const late = this.#batches.filter(({ startedMs }) => startedMs < startedBeforeMs)
    if (late.length === 0) return []
    if (this.#isInHand) this.#session = undefined
    this.#dropFirst(late.length)
    return late.map((batch) => refusal(batch, reason))
  }

  #openBatch(valueBytes: number, nowMs: number): OutgoingBatch {
    const isLastOpen = this.#batches.length > (this.#isInHand ? 1 : 0)
    const last = isLastOpen ? this.#batches.at(-1) : undefined
    if (last !== undefined && last.records.bytes + valueBytes <= this.#batchBytesMax) return last
    const batch = new OutgoingBatch(nowMs)
    this.#batches.push(batch)
    return batch
  }

  #dropFirst(count: number): void {
    this.#batches = this.#batches.slice(count)
    this.#isInHand = false
  }
}

function refusal(batch: OutgoingBatch, reason: string): Settled {
  return { batch, tell: () => batch.refused(new EventLogUnavailableError(reason)) }
}
