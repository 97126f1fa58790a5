import { setTimeout as sleep } from 'node:timers/promises'
import { EventLogUnavailableError } from '../event-log.ts'
import { HeadBatches } from '../head-batches.ts'
import type { HeadNotes } from '../head-notes.ts'
import type { ControlRecord } from './control-record.ts'
import type { Home, HomeNotes } from './home-notes.ts'
import type { Lease } from './lease.ts'
import type { LeaseCounts } from './lease-counts.ts'

export type AcknowledgementParts = {
  readonly lease: Lease
  readonly homeNotes: HomeNotes
  /** Notes for the time when the log does not answer, which count at any server. */
  readonly plainNotes: Pick<HeadNotes, 'acknowledge'>
  readonly counts: LeaseCounts
  /** Milliseconds after which an append fails because its acknowledgement is not safe. Its records are durable then. */
  readonly withinMs: number
}

/** Notes are tried again for this long before the home is given up, which costs every process more than one lease. */
const giveUpAfterMs = 500
const retryEveryMs = 25
/** A note is tried twice at least, each for this long, because the answer to the first may be unread after a pause of this process. */
const answerWithinMs = 100

/** Decides when durable records may be acknowledged: when no limit check that begins later can miss them. */
export class NotedAcknowledgements {
  readonly #parts: AcknowledgementParts
  readonly #batches = new HeadBatches((topic, heads) => this.#untilSafe(topic, heads))
  /** The record in which heads were noted, and these heads by topic and partition. */
  #notedIn: ControlRecord | undefined
  readonly #noted = new Map<string, Map<number, number>>()
  #givingUp: Promise<void> | undefined

  constructor(parts: AcknowledgementParts) {
    this.#parts = parts
  }

  /** Resolves when records before the head may be acknowledged. Rejects with EventLogUnavailableError if that takes too long. */
  acknowledge(topic: string, partition: number, head: number): Promise<void> {
    return this.#batches.add(topic, partition, head)
  }

  async #untilSafe(topic: string, heads: ReadonlyMap<number, number>): Promise<void> {
    const deadlineMs = performance.now() + this.#parts.withinMs
    if (await this.#isSafe(topic, heads)) return
    this.#parts.counts.held += 1
    do {
      if (performance.now() > deadlineMs) {
        throw new EventLogUnavailableError(
          'The records are stored, but limit checks might miss them, so they are not acknowledged.',
        )
      }
    } while (!(await this.#isSafe(topic, heads)))
  }

  /** Does the next step towards an acknowledgement. Returns true if it is safe now. */
  async #isSafe(topic: string, heads: ReadonlyMap<number, number>): Promise<boolean> {
    const { lease, plainNotes } = this.#parts
    const { record } = lease
    if (!lease.isValid()) {
      await lease.confirm()
      if (!lease.isValid()) await sleep(retryEveryMs)
      return false
    }
    if (record.home !== null) {
      if (await this.#isNoted(record, record.home, topic, heads)) {
        // The note was safe only if no later record gave up the home before it was written.
        return lease.isValid() && lease.record === record
      }
      if (lease.record === record) await this.#giveUp()
      return false
    }
    if (!lease.isSettled()) {
      // Limit checks of processes that do not know this record yet may still trust the home before it.
      await sleep(lease.settlesInMs())
      return false
    }
    await Promise.all(
      [...heads].map(([partition, head]) => plainNotes.acknowledge(topic, partition, head)),
    )
    return lease.isValid() && lease.record === record
  }

  /** Returns false if the server is not the home, or does not answer for some time. */
  async #isNoted(
    record: ControlRecord,
    home: Home,
    topic: string,
    heads: ReadonlyMap<number, number>,
  ): Promise<boolean> {
    if (this.#areNoted(record, topic, heads)) return true
    const deadlineMs = performance.now() + giveUpAfterMs
    for (let isRepeated = false; ; isRepeated = true) {
      const note = this.#parts.homeNotes.note(home, topic, heads).catch(() => undefined)
      const leftMs = Math.max(answerWithinMs, deadlineMs - performance.now())
      const noted = await settledWithin(note, leftMs)
      if (noted === true) this.#remember(record, topic, heads)
      if (noted !== undefined) return noted
      if (isRepeated && performance.now() >= deadlineMs) return false
      await sleep(retryEveryMs)
    }
  }

  /** An earlier commit may have noted a head that contains this one, because each notes the highest head that it knows. */
  #areNoted(record: ControlRecord, topic: string, heads: ReadonlyMap<number, number>): boolean {
    if (this.#notedIn !== record) return false
    const noted = this.#noted.get(topic)
    return [...heads].every(([partition, head]) => (noted?.get(partition) ?? 0) >= head)
  }

  #remember(record: ControlRecord, topic: string, heads: ReadonlyMap<number, number>): void {
    if (this.#notedIn !== record) this.#noted.clear()
    this.#notedIn = record
    const noted = this.#noted.get(topic) ?? new Map<number, number>()
    for (const [partition, head] of heads) {
      noted.set(partition, Math.max(head, noted.get(partition) ?? 0))
    }
    this.#noted.set(topic, noted)
  }

  /** Writes that there is no home. If the write fails, the next step of the caller tries again. */
  #giveUp(): Promise<void> {
    this.#givingUp ??= this.#parts.lease
      .propose(null)
      .catch(() => sleep(retryEveryMs))
      .finally(() => (this.#givingUp = undefined))
    return this.#givingUp
  }
}

/** Returns undefined if the work takes longer. It continues then, and a late note does no harm. */
async function settledWithin<Result>(
  work: Promise<Result>,
  withinMs: number,
): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), withinMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
