import type { Home, HomeNotes } from './home-notes.ts'
import type { ControlRecord } from './control-record.ts'
import type { Lease } from './lease.ts'
import type { LeaseCounts } from './lease-counts.ts'

export type NotedHeadsParts = {
  readonly lease: Lease
  readonly homeNotes: HomeNotes
  readonly counts: LeaseCounts
  /** Asks the log. */
  readonly ask: (topic: string, partition: number) => Promise<number>
}

/** The partitions of one topic that are read in one turn of the event loop, with the place of each in the answer. */
type Turn = {
  readonly partitions: Map<number, number>
  readonly heads: Promise<readonly number[] | undefined>
}

/**
 * Returns heads from the notes while they are known to contain every acknowledged record, and asks the log otherwise. All heads of
 * a turn are one call to Redis.
 */
export class NotedHeads {
  readonly #parts: NotedHeadsParts
  readonly #turns = new Map<string, Turn>()
  /** The record that the floors belong to. */
  #floorsOf: ControlRecord | undefined
  /**
   * Heads of the log after this process was settled, by topic and partition. They contain what was acknowledged before the home was
   * one, so the notes need not.
   */
  readonly #floors = new Map<string, (number | undefined)[]>()

  constructor(parts: NotedHeadsParts) {
    this.#parts = parts
  }

  head(topic: string, partition: number): Promise<number> {
    const { lease } = this.#parts
    const { record } = lease
    // The lease must be valid when the check begins. The home has then all that was acknowledged, for as long as it answers as one.
    if (record.home === null || !lease.isSettled() || !lease.isValid()) {
      return this.#ask(topic, partition)
    }
    const floors = this.#floorsFor(record, topic)
    const floor = floors[partition]
    if (floor === undefined) {
      return this.#ask(topic, partition).then((head) => (floors[partition] = head))
    }
    return this.#fromNotes(record.home, topic, partition, floor)
  }

  /** Floors of an earlier record are other arrays, so a late answer does not reach those in use. */
  #floorsFor(record: ControlRecord, topic: string): (number | undefined)[] {
    if (this.#floorsOf !== record) {
      this.#floorsOf = record
      this.#floors.clear()
      this.#turns.clear()
    }
    let floors = this.#floors.get(topic)
    if (floors === undefined) {
      floors = []
      this.#floors.set(topic, floors)
    }
    return floors
  }

  async #fromNotes(home: Home, topic: string, partition: number, floor: number): Promise<number> {
    let turn = this.#turns.get(topic)
    if (turn === undefined) {
      turn = this.#beginTurn(home, topic)
      this.#turns.set(topic, turn)
    }
    const { partitions } = turn
    let place = partitions.get(partition)
    if (place === undefined) {
      place = partitions.size
      partitions.set(partition, place)
    }
    const head = (await turn.heads)?.[place]
    if (head === undefined) return this.#ask(topic, partition)
    this.#parts.counts.trusted += 1
    return Math.max(head, floor)
  }

  /** The read is sent after the last check of the turn has begun. */
  #beginTurn(home: Home, topic: string): Turn {
    const partitions = new Map<number, number>()
    const heads = new Promise<readonly number[] | undefined>((resolve) => {
      setImmediate(() => {
        this.#turns.delete(topic)
        this.#parts.homeNotes
          .read(home, topic, [...partitions.keys()])
          .then(resolve, () => resolve(undefined))
      })
    })
    return { partitions, heads }
  }

  #ask(topic: string, partition: number): Promise<number> {
    this.#parts.counts.asked += 1
    return this.#parts.ask(topic, partition)
  }
}
