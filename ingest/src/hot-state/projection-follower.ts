import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'

export type FollowerParts = {
  readonly log: Pick<EventLog, 'partitionCount' | 'head'>
  readonly hotState: Pick<HotState, 'appliedOffset'>
  /** Called with the offset that the counters projection has applied in one partition. */
  readonly onApplied: (environment: Environment, partition: number, offset: number) => void
  readonly onFailure: (error: unknown) => void
  readonly intervalMs: number
}

type Progress = {
  offset: number
  /** Time at which the offset last advanced or was at the head of the log, as `performance.now()` returns it. */
  movedAtMs: number
}

/** Reads periodically which offset the counters projection has applied in each partition. */
export class ProjectionFollower {
  readonly #parts: FollowerParts
  readonly #progress = new Map<string, Progress>()
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(parts: FollowerParts) {
    this.#parts = parts
  }

  start(): void {
    this.#schedule()
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  /** Throws an Error if a partition has records to apply and its offset has not advanced for more than `stuckAfterMs`. */
  assertMoving(stuckAfterMs: number): void {
    const now = performance.now()
    for (const [place, { movedAtMs, offset }] of this.#progress) {
      if (now - movedAtMs <= stuckAfterMs) continue
      const seconds = Math.round((now - movedAtMs) / 1000)
      throw new Error(
        `the counters projection of ${place} has not advanced from offset ${offset} for ${seconds} s`,
      )
    }
  }

  #schedule(): void {
    if (this.#isStopped) return
    this.#timer = setTimeout(() => {
      this.#readPositions()
        .catch(this.#parts.onFailure)
        .finally(() => this.#schedule())
    }, this.#parts.intervalMs)
    this.#timer.unref()
  }

  async #readPositions(): Promise<void> {
    const { log, hotState, onApplied } = this.#parts
    for (const environment of environments) {
      const topic = usageTopic(environment)
      for (let partition = 0; partition < log.partitionCount(topic); partition++) {
        const offset = await hotState.appliedOffset(environment, partition)
        this.#recordProgress(
          `${environment}/${partition}`,
          offset,
          await log.head(topic, partition),
        )
        onApplied(environment, partition, offset)
      }
    }
  }

  #recordProgress(place: string, offset: number, head: number): void {
    const progress = this.#progress.get(place)
    if (progress !== undefined && progress.offset === offset && offset < head) return
    this.#progress.set(place, { offset, movedAtMs: performance.now() })
  }
}
