import { setTimeout as sleep } from 'node:timers/promises'
import {
  GroupFencedError,
  type EventLog,
  type GroupMembership,
  type GroupPosition,
} from '../src/event-log/event-log.ts'

const group = 'sink'
const topic = 'orders'

/** Ranges of a partition that were committed, by start; each begins where another one ended. */
type Tiles = Map<number, number>

/**
 * Processes its partitions like a projection: reads from the stored position and commits the next one. Records the ranges that it
 * committed.
 */
export class TilingReader {
  readonly log: EventLog
  readonly #commits: boolean
  readonly #tiles = new Map<number, Tiles>()
  readonly #working = new Map<
    number,
    { readonly stop: AbortController; readonly done: Promise<void> }
  >()
  #membership: GroupMembership | undefined

  constructor(log: EventLog, { commits = true } = {}) {
    this.log = log
    this.#commits = commits
  }

  get heldTotal(): number {
    return this.#working.size
  }

  async join(): Promise<void> {
    this.#membership = await this.log.join(group, [topic], {
      assigned: (_topic, partition) => {
        const stop = new AbortController()
        const done = this.#commits ? this.#work(partition, stop.signal) : Promise.resolve()
        this.#working.set(partition, { stop, done })
      },
      revoked: async (_topic, partition) => {
        const working = this.#working.get(partition)
        this.#working.delete(partition)
        working?.stop.abort()
        await working?.done
      },
    })
  }

  async leave(): Promise<void> {
    await this.#membership?.leave()
  }

  /** Adds the ranges of another reader. Throws if both have committed the same range. */
  adopt(other: TilingReader): void {
    for (const [partition, tiles] of other.#tiles) {
      for (const [from, to] of tiles) this.#lay(partition, from, to)
    }
  }

  /** Returns how far the ranges reach from the beginning without a gap. */
  coveredTo(partition: number): number {
    const tiles = this.#tiles.get(partition)
    let end = 0
    for (let next = tiles?.get(0); next !== undefined; next = tiles?.get(end)) end = next
    return end
  }

  async #work(partition: number, signal: AbortSignal): Promise<void> {
    let position: GroupPosition | undefined
    while (!signal.aborted) {
      try {
        position ??= await this.log.position(group, topic, partition)
        const limits = { recordsMax: 7, bytesMax: 10_000 }
        const records = await this.log.read(topic, partition, position.offset, limits)
        if (records.length === 0) {
          await this.log.waitForAppend(topic, 50)
          continue
        }
        const next = { offset: records.at(-1)!.offset + 1, note: '' }
        await this.log.commit(group, topic, partition, position, next)
        this.#lay(partition, position.offset, next.offset)
        position = next
      } catch (error) {
        if (!(error instanceof GroupFencedError)) throw error
        position = undefined
        await sleep(20)
      }
    }
  }

  #lay(partition: number, from: number, to: number): void {
    const tiles = this.#tiles.get(partition) ?? new Map<number, number>()
    if (tiles.has(from)) throw new Error(`${topic}/${partition} was committed twice from ${from}`)
    tiles.set(from, to)
    this.#tiles.set(partition, tiles)
  }
}
