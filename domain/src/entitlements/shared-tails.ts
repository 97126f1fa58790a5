import type { EntryAddress } from '@tollgate/platform/hot-state/hot-state'
import { ConcurrencyLimit } from '@tollgate/platform/waiting/concurrency-limit'
import type { PartitionTailParts } from './partition-tail.ts'
import { SharedTail, type TailAnswer, type TailBudget, type TailQuery } from './shared-tail.ts'

export type TailLimits = {
  /** Memory limit of the folded tails of all partitions, in bytes. */
  readonly bytesMax: number
  /** Number of partitions whose tails are read at the same time. */
  readonly foldsMax: number
  /** How long a caller waits for its records to be folded, in milliseconds. */
  readonly waitMs: number
}

/** A tail that no caller has used for this many milliseconds is dropped. */
const unusedMs = 10_000

/** The folded tails of all partitions. There is one instance per process, so that all callers share it. */
export class SharedTails {
  readonly #parts: PartitionTailParts
  readonly #tails = new Map<string, SharedTail>()
  readonly #budget: TailBudget
  #sweeping: NodeJS.Timeout | undefined

  constructor(parts: PartitionTailParts, { bytesMax, foldsMax, waitMs }: TailLimits) {
    this.#parts = parts
    this.#budget = {
      concurrency: new ConcurrencyLimit(foldsMax),
      isSpent: () => this.bytes >= bytesMax,
      waitMs,
    }
  }

  /** Bytes that the folded tails use now. */
  get bytes(): number {
    let bytes = 0
    for (const tail of this.#tails.values()) bytes += tail.bytes
    return bytes
  }

  /**
   * Sums up the records that the log has beyond the counters, at once if they are folded already. Rejects with
   * TailBusyError if this takes too much time or memory, and with UsageBehindError if the log no longer has the
   * records.
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
      // The interval needs no shutdown: it does not keep the process alive, only frees memory, and stops by itself.
      this.#sweeping ??= setInterval(() => this.#dropUnused(), unusedMs).unref()
    }
    return tail.read(query)
  }

  #dropUnused(): void {
    for (const [name, tail] of this.#tails) {
      if (!tail.resetUse()) this.#tails.delete(name)
    }
    if (this.#tails.size > 0) return
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
  }
}
