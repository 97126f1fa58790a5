import { EventLogUnavailableError, type LogAppend } from '../event-log.ts'
import { OutgoingBatch } from './outgoing-batch.ts'
import type { ProducerSession } from './producer-session.ts'
import type { Compression } from './wire/compress.ts'
import { describeCode, errorCode, isRetriable, isProducerForgotten } from './wire/error-codes.ts'
import type { ProduceResult } from './wire/requests.ts'

/** A batch whose outcome is known, and the function that reports it to its appends. */
export type Settled = { readonly batch: OutgoingBatch; readonly report: () => void }

/** A batch on its way to the leader, with the bytes to send. */
export type Sending = { readonly batch: OutgoingBatch; readonly bytes: Buffer }

const sequenceCount = 2 ** 31
const backoffMinMs = 20
const backoffMaxMs = 500
/**
 * A second batch is only sent behind the first if the broker acknowledged a batch of this session within this time. A broker that
 * does not know the session accepts any sequence number, and would let the second batch overtake the first.
 */
const knownToBrokerMs = 60_000

/**
 * The records of one partition that wait to be sent to its leader, in batches of which two may be in flight.
 *
 * A batch is sent with the same sequence number until the broker answers for it, and the broker stores one batch per number and
 * refuses a number after a gap. So a batch whose acknowledgement was lost is not stored twice, and the second batch in flight is
 * never stored before the first. After a failure the queue waits for the answers of both, and sends them again one at a time.
 *
 * If a batch that the log may have is abandoned, its number must never be used for other records, because the broker would drop
 * them as duplicates. So the producer session, which owns the number, is abandoned with it.
 */
export class PartitionQueue {
  readonly topic: string
  readonly partition: number
  readonly #batchBytesMax: number
  /** Batches in order. First those that were sent in this session, in the order of their numbers; the last may accept records. */
  #batches: OutgoingBatch[] = []
  /** Batches in flight, at most two. Abandoned ones stay here until their request has ended. */
  readonly #inFlight = new Set<OutgoingBatch>()
  #leader = -1
  #session: ProducerSession | undefined
  #nextSequence = 0
  #acknowledgedAtMs = -Infinity
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

  /** Returns whether a new producer session must be opened before the next batch can be sent. */
  needsSession(nowMs: number): boolean {
    return this.#session === undefined && this.#mayBegin(nowMs)
  }

  /** Returns whether a batch may be sent to that leader now. */
  isDue(nowMs: number, leader: number): boolean {
    return this.#session !== undefined && this.#nextToSend(nowMs, leader) !== undefined
  }

  /** Returns the bytes of the values of the next batch, and the time when its first record arrived. Requires that one is due. */
  waiting(nowMs: number, leader: number): Pick<OutgoingBatch, 'valueBytes' | 'startedMs'> {
    return this.#nextToSend(nowMs, leader)!
  }

  /**
   * Uses a new session. No batch may be in flight. Returns refusals of the batches that the log may have under a number of the old
   * session, because the broker could not tell a second copy from other records.
   */
  useSession(session: ProducerSession): Settled[] {
    this.#session = session
    this.#nextSequence = 0
    this.#acknowledgedAtMs = -Infinity
    const uncertain = this.#batches.filter(({ mayBeStored }) => mayBeStored)
    this.#batches = this.#batches.filter(({ mayBeStored }) => !mayBeStored)
    for (const batch of this.#batches) batch.firstSequence = undefined
    const reason = 'Kafka has forgotten the producer, and may have the records.'
    return uncertain.map((batch) => refusal(batch, reason))
  }

  /** Copies the record into the last batch, and returns that batch. */
  add({ key, value }: Omit<LogAppend, 'partition'>, receivedAtMs: number, nowMs: number) {
    const batch = this.#openBatch(value.byteLength, nowMs)
    batch.records.add(key, value, receivedAtMs)
    return batch
  }

  /** Returns the batch to send. Requires that one is due. */
  beginSend(nowMs: number, leader: number, compression?: Compression): Sending {
    const batch = this.#nextToSend(nowMs, leader)!
    if (batch.firstSequence === undefined) {
      batch.firstSequence = this.#nextSequence
      this.#nextSequence = (this.#nextSequence + batch.records.count) % sequenceCount
    }
    batch.isClosed = true
    batch.mayBeStored = true
    this.#inFlight.add(batch)
    this.#leader = leader
    const producer = { ...this.#session!, firstSequence: batch.firstSequence }
    return { batch, bytes: batch.records.finish(producer, compression) }
  }

  /** Processes the leader's answer for a batch in flight. Returns undefined if the batch must be sent again. */
  settle(
    batch: OutgoingBatch,
    { errorCode: code, baseOffset }: Pick<ProduceResult, 'errorCode' | 'baseOffset'>,
    nowMs: number,
  ): Settled | undefined {
    this.#inFlight.delete(batch)
    const index = this.#batches.indexOf(batch)
    // The batch was abandoned while it was in flight.
    if (index < 0) return undefined
    if (code === errorCode.none) {
      this.#acknowledgedAtMs = nowMs
      this.#failures = 0
      batch.baseOffset = baseOffset
      this.#batches.splice(index, 1)
      return { batch, report: () => batch.kept() }
    }
    if (isProducerForgotten(code)) {
      batch.mayBeStored = false
      // If the first batch was not stored, the broker refuses the second one for its number, but still knows the producer.
      if (index > 0) return undefined
      this.#session = undefined
    }
    if (isRetriable(code) || isProducerForgotten(code)) {
      this.#backOff(nowMs)
      return undefined
    }
    this.#batches.splice(index, 1)
    // An earlier copy may be stored, and a later batch may have the number after it, so the number is not used for other records.
    this.#session = undefined
    return refusal(batch, `Kafka refuses the records: ${describeCode(code)}`)
  }

  /** Schedules a retry after a request whose outcome is unknown, or that could not be sent. */
  fail(batch: OutgoingBatch, nowMs: number): void {
    this.#inFlight.delete(batch)
    this.#backOff(nowMs)
  }

  /** Schedules a retry after no session could be opened. */
  failSession(nowMs: number): void {
    this.#backOff(nowMs)
  }

  /** Refuses every batch that was started before that time, and with a batch that was sent the others that were. */
  abandonBefore(startedBeforeMs: number, reason: string): Settled[] {
    const late = this.#batches.filter(({ startedMs }) => startedMs < startedBeforeMs).length
    if (late === 0) return []
    const sent = this.#sentCount
    // A copy in flight may still be stored, so the numbers of all sent batches are lost with the session.
    if (sent > 0) this.#session = undefined
    const abandoned = this.#batches.splice(0, Math.max(late, sent))
    return abandoned.map((batch) => refusal(batch, reason))
  }

  get #sentCount(): number {
    const unsent = this.#batches.findIndex(({ firstSequence }) => firstSequence === undefined)
    return unsent < 0 ? this.#batches.length : unsent
  }

  #mayBegin(nowMs: number): boolean {
    return !this.isEmpty && this.#inFlight.size === 0 && nowMs >= this.#retryAtMs
  }

  #nextToSend(nowMs: number, leader: number): OutgoingBatch | undefined {
    if (this.#mayBegin(nowMs)) return this.#batches[0]
    const [first, second] = this.#batches
    const isBehindFirst =
      second !== undefined &&
      second.firstSequence === undefined &&
      this.#inFlight.size === 1 &&
      this.#inFlight.has(first!) &&
      this.#leader === leader &&
      this.#failures === 0 &&
      nowMs - this.#acknowledgedAtMs < knownToBrokerMs
    return isBehindFirst ? second : undefined
  }

  #backOff(nowMs: number): void {
    this.#retryAtMs = nowMs + Math.min(backoffMaxMs, backoffMinMs * 2 ** this.#failures++)
  }

  #openBatch(valueBytes: number, nowMs: number): OutgoingBatch {
    const last = this.#batches.at(-1)
    if (last !== undefined && !last.isClosed) {
      if (last.records.bytes + valueBytes <= this.#batchBytesMax) return last
    }
    const batch = new OutgoingBatch(nowMs)
    this.#batches.push(batch)
    return batch
  }
}

function refusal(batch: OutgoingBatch, reason: string): Settled {
  return { batch, report: () => batch.refused(new EventLogUnavailableError(reason)) }
}
