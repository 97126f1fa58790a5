import { setImmediate as otherWork } from 'node:timers/promises'
import type { ConcurrencyLimit } from '@tollgate/platform/waiting/concurrency-limit'
import type { CountingWindow } from './counting-windows.ts'
import { PartitionTail, type PartitionTailParts, type TailPlace } from './partition-tail.ts'
import { TailBusyError } from './usage-behind-error.ts'
import type { Series } from './tail-chunk.ts'

/** The caller that waits for an answer. */
export type Caller = {
  /** True once the caller will no longer read the answer. */
  readonly isGone: boolean
}

export type TailQuery = {
  /** The counters' fence at the moment when the counters were read. */
  readonly fence: number
  /** All records before this offset must be included. */
  readonly head: number
  readonly series: readonly Series[]
  readonly windows: readonly CountingWindow[]
  /** The previous answer to this caller, if it was `passed`. */
  readonly passed?: PassedTail | undefined
  readonly caller?: Caller | undefined
}

/** The fence is beyond the caller's reading of the counters. The caller must read the counters again. */
export type PassedTail = { readonly kind: 'passed'; readonly tailStart: number }

export type TailAnswer =
  PassedTail | { readonly kind: 'summed'; readonly amounts: ReadonlyMap<string, bigint> }

/** Limits that all tails of a process share. */
export type TailBudget = {
  readonly concurrency: ConcurrencyLimit
  /** True while the folded tails use all of their memory budget. */
  readonly isSpent: () => boolean
  /** How long a caller waits for records to be folded, in milliseconds. */
  readonly waitMs: number
}

type Waiting = {
  readonly query: TailQuery
  readonly resolve: (answer: TailAnswer) => void
  readonly reject: (error: unknown) => void
  readonly timer: NodeJS.Timeout
}

/** Number of chunks that are summed up before other requests get a turn. Takes some milliseconds. */
export const chunksReadMax = 1_024

/**
 * The folded tail of one partition, with all callers that wait for it. Callers are served one at a time, and the
 * records folded for one caller serve the others. Folding stops as soon as no caller waits, and continues from there
 * for the next caller.
 */
export class SharedTail {
  readonly #tail: PartitionTail
  readonly #budget: TailBudget
  readonly #waiting = new Set<Waiting>()
  /** Number of chunks that were read for all answers together. */
  #chunksRead = 0
  #isWorking = false
  #isUsed = false

  constructor(parts: PartitionTailParts, place: TailPlace, budget: TailBudget) {
    this.#tail = new PartitionTail(parts, place)
    this.#budget = budget
  }

  get bytes(): number {
    return this.#tail.bytes
  }

  /** Returns whether the tail was used since the last call. */
  resetUse(): boolean {
    const wasUsed = this.#isUsed || this.#waiting.size > 0
    this.#isUsed = false
    return wasUsed
  }

  /** Returns the answer, at once if it is folded already. Rejects with TailBusyError or UsageBehindError. */
  read(query: TailQuery): TailAnswer | Promise<TailAnswer> {
    this.#isUsed = true
    const answer = this.#answer(query)
    if (answer !== undefined) return answer
    return new Promise((resolve, reject) => {
      const refuse = (): void => this.#settle(waiting, () => reject(busy(query)))
      const timer = setTimeout(refuse, this.#budget.waitMs)
      const waiting = { query, resolve, reject, timer }
      this.#waiting.add(waiting)
      if (!this.#isWorking) void this.#work()
    })
  }

  /** Returns undefined if the tail must read records first. */
  #answer(query: TailQuery): TailAnswer | undefined {
    const { fence, head, passed } = query
    const tailStart = this.#tail.fromOffset
    if (tailStart !== undefined && fence < tailStart) {
      // A caller that got `passed` reads the fence again. If the new fence is before that tail start, it has moved back,
      // because the hot state was lost or restored from an older copy.
      const hasMovedBack = passed !== undefined && fence < passed.tailStart
      if (!hasMovedBack) return { kind: 'passed', tailStart }
    }
    this.#tail.seek(fence)
    if (this.#tail.fromOffset !== fence || this.#tail.toOffset < head) return undefined
    const { amounts, chunksRead } = this.#tail.sum(query.series, query.windows)
    this.#chunksRead += chunksRead
    return { kind: 'summed', amounts }
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    try {
      for (;;) {
        this.#rejectGone()
        const [next] = this.#waiting
        if (next === undefined) break
        await this.#budget.concurrency.run(() => this.#step(next.query))
        await this.#answerAll()
        // Folding a long tail takes as long as thousands of requests. Other requests must not wait for it.
        if (this.#waiting.size > 0) await otherWork()
      }
    } catch (error) {
      for (const waiting of this.#waiting) this.#settle(waiting, () => waiting.reject(error))
    } finally {
      this.#isWorking = false
    }
  }

  /** Makes one step towards the answer. A step reads and folds some hundred records. */
  async #step(query: TailQuery): Promise<void> {
    const { fence, head } = query
    const { fromOffset = fence, toOffset } = this.#tail
    if (fence < fromOffset || fence > toOffset) return
    if (toOffset < head) {
      if (this.#budget.isSpent()) throw busy(query)
      if ((await this.#tail.advance()) === 'lost') this.#passAll(fromOffset)
    } else if (fromOffset < fence) await this.#tail.cutAt(fence)
  }

  async #answerAll(): Promise<void> {
    let pauseAt = this.#chunksRead + chunksReadMax
    // Callers that arrive during the loop are already checked by `read`.
    for (const waiting of [...this.#waiting]) {
      if (this.#chunksRead >= pauseAt) {
        await otherWork()
        pauseAt = this.#chunksRead + chunksReadMax
      }
      if (!this.#waiting.has(waiting)) continue
      const answer = this.#answer(waiting.query)
      if (answer !== undefined) this.#settle(waiting, () => waiting.resolve(answer))
    }
  }

  #passAll(tailStart: number): void {
    for (const waiting of this.#waiting) {
      this.#settle(waiting, () => waiting.resolve({ kind: 'passed', tailStart }))
    }
  }

  #rejectGone(): void {
    for (const waiting of this.#waiting) {
      const { query, reject } = waiting
      if (query.caller?.isGone) this.#settle(waiting, () => reject(busy(query)))
    }
  }

  #settle(waiting: Waiting, settle: () => void): void {
    clearTimeout(waiting.timer)
    this.#waiting.delete(waiting)
    settle()
  }
}

function busy({ fence, head }: TailQuery): TailBusyError {
  return new TailBusyError(head - fence)
}
