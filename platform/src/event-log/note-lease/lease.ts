import type { Logger } from '../../observability/logger.ts'
import type { EventLog } from '../event-log.ts'
import { noRecord, packRecord, parseRecord, type ControlRecord } from './control-record.ts'

export type LeaseParts = {
  /** The log that has the control topic, with one partition. */
  readonly control: Pick<EventLog, 'head' | 'read' | 'append'>
  readonly topic: string
  readonly logger: Pick<Logger, 'warn' | 'info'>
}

/** Length of a lease, in milliseconds. It is no setting, because all processes must have the same. */
export const leaseMs = 1_000
/** Two clocks differ in speed by less than 10 %. After this time, no lease is left that a question before it gave. */
const settleMs = 1.1 * leaseMs
const confirmEveryMs = leaseMs / 4
const readLimits = { recordsMax: 100, bytesMax: 2 ** 20 }

/**
 * The newest record of the control topic, and the right of this process to act on it. The process asks the log whether there is a
 * newer record, and may then act until `leaseMs` after it sent the question. So a process that writes a record knows when no process
 * acts on the record before it any more, also if one of them was paused or cut off: `isSettled` returns whether that time has passed
 * since this process learned the record. test/note-lease-model.ts has the rule, and shows that each part of it is needed.
 */
export class Lease {
  readonly #parts: LeaseParts
  #record = noRecord
  /** An empty topic has no earlier record that a process could act on. */
  #learnedAtMs = Number.NEGATIVE_INFINITY
  #nextOffset = 0
  #untilMs = Number.NEGATIVE_INFINITY
  #untilWallMs = Number.NEGATIVE_INFINITY
  #confirming: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  /** The last reported failure, so that each is reported once. */
  #failure: string | undefined
  #isClosed = false

  constructor(parts: LeaseParts) {
    this.#parts = parts
  }

  get record(): ControlRecord {
    return this.#record
  }

  /**
   * The wall clock is compared too, because the other clock may stand still while a machine is suspended. If the wall clock is
   * adjusted, a lease only ends earlier.
   */
  isValid(): boolean {
    return performance.now() < this.#untilMs && Date.now() < this.#untilWallMs
  }

  isSettled(): boolean {
    return this.settlesInMs() <= 0
  }

  /** Returns the milliseconds until this process is settled. */
  settlesInMs(): number {
    return this.#learnedAtMs + settleMs - performance.now()
  }

  /** Returns for how long this process has known the record, in milliseconds. */
  knownForMs(): number {
    return performance.now() - this.#learnedAtMs
  }

  /** Confirms the lease now, and then again and again. */
  async start(): Promise<void> {
    await this.confirm()
    this.#schedule()
  }

  stop(): void {
    this.#isClosed = true
    this.#untilMs = Number.NEGATIVE_INFINITY
    clearTimeout(this.#timer)
  }

  /** Resolves when a question was answered or has failed. Callers share a question that is under way. */
  confirm(): Promise<void> {
    this.#confirming ??= this.#ask()
      .catch((err: unknown) => this.#reportFailure(err))
      .finally(() => (this.#confirming = undefined))
    return this.#confirming
  }

  /**
   * Writes the record after the known one, and learns what came of it: another process may have been faster. The write may fail and
   * its record arrive later, when it counts only if nothing else was written.
   */
  async propose(home: ControlRecord['home']): Promise<void> {
    const { control, topic } = this.#parts
    const record = { number: this.#record.number + 1, home }
    await control.append(topic, 0, packRecord(record), Date.now())
    // A question that is under way may have been asked before the record was there.
    await this.#confirming
    await this.confirm()
  }

  #schedule(): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => {
      void this.confirm().then(() => this.#schedule())
    }, confirmEveryMs)
    this.#timer.unref()
  }

  async #ask(): Promise<void> {
    const { control, topic } = this.#parts
    const sentAtMs = performance.now()
    const sentAtWallMs = Date.now()
    const head = await control.head(topic, 0)
    if (head < this.#nextOffset) throw new Error(`the topic ${topic} has lost records`)
    while (this.#nextOffset < head) await this.#readSome()
    if (this.#isClosed) return
    this.#untilMs = sentAtMs + leaseMs
    this.#untilWallMs = sentAtWallMs + leaseMs
    this.#failure = undefined
  }

  async #readSome(): Promise<void> {
    const { control, topic, logger } = this.#parts
    const records = await control.read(topic, 0, this.#nextOffset, readLimits)
    if (records.length === 0) throw new Error(`the topic ${topic} ends too early`)
    for (const { offset, value } of records) {
      // Without the deleted records, a later one could seem to be out of turn, and the home that others trust would be unknown here.
      if (offset !== this.#nextOffset) throw new Error(`the topic ${topic} has lost records`)
      const record = parseRecord(value)
      this.#nextOffset = offset + 1
      if (record.number !== this.#record.number + 1) continue
      this.#record = record
      this.#learnedAtMs = performance.now()
      if (record.home === null) {
        logger.warn({ record }, 'Limit checks ask the event log, because Redis has lost notes')
      } else {
        logger.info({ record }, 'Limit checks read acknowledged heads from Redis')
      }
    }
  }

  #reportFailure(err: unknown): void {
    const failure = err instanceof Error ? err.message : String(err)
    if (this.#isClosed || this.#failure === failure) return
    this.#failure = failure
    this.#parts.logger.warn({ err }, 'The log does not confirm where acknowledged heads are noted')
  }
}
