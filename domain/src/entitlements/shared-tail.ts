import { setImmediate as otherWork } from 'node:timers/promises'
import type { CountingWindow } from './counting-windows.ts'
import { PartitionTail, type PartitionTailParts, type TailPlace } from './partition-tail.ts'
import { TailBusyError } from './tail-busy-error.ts'
import type { Series } from './tail-chunk.ts'
import type { Turns } from './turns.ts'

/** Who waits for an answer. */
export type Caller = {
  /** True once nobody will read the answer. */
  readonly isGone: boolean
}

export type TailQuery = {
  /** The counters' fence as of the moment at which the counters were read. */
  readonly fence: number
  /** All records before it must be included. */
  readonly head: number
  readonly series: readonly Series[]
  readonly windows: readonly CountingWindow[]
  /** What the last answer to this caller was, if it was `passed`. */
  readonly passed?: PassedTail | undefined
  readonly caller?: Caller | undefined
}

/** The fence is further than the caller's reading of the counters: read the counters again. */
export type PassedTail = { readonly kind: 'passed'; readonly tailStart: number }

export type TailAnswer =
  PassedTail | { readonly kind: 'summed'; readonly amounts: ReadonlyMap<string, bigint> }

/** What all tails of a process share. */
export type TailBudget = {
  readonly turns: Turns
  /** True while the folded tails take as much memory as they may. */
  readonly isSpent: () => boolean
  /** How long a caller waits for records to be folded. */
  readonly waitMs: number
}

type Waiting = {
  readonly query: TailQuery
  readonly resolve: (answer: TailAnswer) => void
  readonly reject: (error: unknown) => void
  readonly timer: NodeJS.Timeout
}

/** Chunks that are summed up before requests that need no tail are served: some milliseconds. */
export const chunksReadMax = 1_024

/**
 * The folded tail of one partition with all callers that wait for it. One of them is served at a time, and what it needs
 * serves the others. Folding stops as soon as nobody waits any more, and goes on from there for the next caller.
 */
export class SharedTail {
  readonly #tail: PartitionTail
  readonly #budget: TailBudget
  readonly #waiting = new Set<Waiting>()
  /** Over all answers. */
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

  /** Whether anybody asked since the last call. */
  takeUse(): boolean {
    const wasUsed = this.#isUsed || this.#waiting.size > 0
    this.#isUsed = false
    return wasUsed
  }

  /** Rejects with TailBusyError or UsageBehindError. */
  read(query: TailQuery): TailAnswer | Promise<TailAnswer> {
    this.#isUsed = true
    const answer = this.#answer(query)
    if (answer !== undefined) return answer
    return new Promise((resolve, reject) => {
      const refuse = (): void => this.#leave(waiting, () => reject(busy(query)))
      const timer = setTimeout(refuse, this.#budget.waitMs)
      const waiting = { query, resolve, reject, timer }
      this.#waiting.add(waiting)
      if (!this.#isWorking) void this.#work()
    })
  }

  /** Undefined while the tail must be read first. */
  #answer(query: TailQuery): TailAnswer | undefined {
    const { fence, head, passed } = query
    const tailStart = this.#tail.fromOffset
    if (tailStart !== undefined && fence < tailStart) {
      // A fence that was read after it had been further has moved back: the hot state was lost or is an older copy.
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
        this.#dismissGone()
        const [next] = this.#waiting
        if (next === undefined) break
        await this.#budget.turns.run(() => this.#step(next.query))
        await this.#answerAll()
        // A long tail takes as long as thousands of requests, and they must not wait for it.
        if (this.#waiting.size > 0) await otherWork()
      }
    } catch (error) {
      for (const waiting of this.#waiting) this.#leave(waiting, () => waiting.reject(error))
    } finally {
      this.#isWorking = false
    }
  }

  /** One step towards the answer. It takes as long as the reading and folding of some hundred records. */
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
    // Callers that come meanwhile have been looked at when they came.
    for (const waiting of [...this.#waiting]) {
      if (this.#chunksRead >= pauseAt) {
        await otherWork()
        pauseAt = this.#chunksRead + chunksReadMax
      }
      if (!this.#waiting.has(waiting)) continue
      const answer = this.#answer(waiting.query)
      if (answer !== undefined) this.#leave(waiting, () => waiting.resolve(answer))
    }
  }

  #passAll(tailStart: number): void {
    for (const waiting of this.#waiting) {
      this.#leave(waiting, () => waiting.resolve({ kind: 'passed', tailStart }))
    }
  }

  #dismissGone(): void {
    for (const waiting of this.#waiting) {
      const { query, reject } = waiting
      if (query.caller?.isGone) this.#leave(waiting, () => reject(busy(query)))
    }
  }

  #leave(waiting: Waiting, settle: () => void): void {
    clearTimeout(waiting.timer)
    this.#waiting.delete(waiting)
    settle()
  }
}

function busy({ fence, head }: TailQuery): TailBusyError {
  return new TailBusyError(head - fence)
}
