import type { EntryAddress } from '@tollgate/platform/hot-state/hot-state'
import type { PartitionTailParts } from './partition-tail.ts'
import { SharedTail, type TailAnswer, type TailBudget, type TailQuery } from './shared-tail.ts'
import { Turns } from './turns.ts'

export type TailLimits = {
  /** Bytes that the folded tails of all partitions may take. */
  readonly bytesMax: number
  /** Partitions whose tails are read at a time. */
  readonly foldsMax: number
  /** Milliseconds that a caller waits for its records to be folded. */
  readonly waitMs: number
}

/** A tail that nobody has asked for during this time is dropped. */
const unusedMs = 10_000

/** The folded tails of all partitions. One per process, so that all its callers share them. */
export class SharedTails {
  readonly #parts: PartitionTailParts
  readonly #tails = new Map<string, SharedTail>()
  readonly #budget: TailBudget
  #sweeping: NodeJS.Timeout | undefined

  constructor(parts: PartitionTailParts, { bytesMax, foldsMax, waitMs }: TailLimits) {
    this.#parts = parts
    this.#budget = { turns: new Turns(foldsMax), isSpent: () => this.bytes >= bytesMax, waitMs }
  }

  /** Bytes that the folded tails take now. */
  get bytes(): number {
    let bytes = 0
    for (const tail of this.#tails.values()) bytes += tail.bytes
    return bytes
  }

  /**
   * Sums what the log has beyond the counters, at once if that has been folded already. Rejects with TailBusyError if
   * it takes too long or too much memory, and with UsageBehindError if the log has lost the records.
   */
  read(
    { space, partition }: Pick<EntryAddress, 'space' | 'partition'>,
    topic: string,
    query: TailQuery,
  ): TailAnswer | Promise<TailAnswer> {
    const name = `${space}/${partition}`
    let tail = this.#tails.get(name)
    if (tail === undefined) {
      tail = new SharedTail(this.#parts, { space, topic, partition }, this.#budget)
      this.#tails.set(name, tail)
      // Needs no end: it keeps no process alive, touches memory alone, and stops by itself.
      this.#sweeping ??= setInterval(() => this.#dropUnused(), unusedMs).unref()
    }
    return tail.read(query)
  }

  #dropUnused(): void {
    for (const [name, tail] of this.#tails) {
      if (!tail.takeUse()) this.#tails.delete(name)
    }
    if (this.#tails.size > 0) return
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
  }
}
