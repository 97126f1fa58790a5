import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'

export type FollowerParts = {
  readonly log: Pick<EventLog, 'partitionCount' | 'head'>
  readonly hotState: Pick<HotState, 'appliedOffset'>
  /** How far the counters have come in one partition. */
  readonly onApplied: (environment: Environment, partition: number, offset: number) => void
  readonly onFailure: (error: unknown) => void
  readonly intervalMs: number
}

type Progress = {
  offset: number
  /** When the offset last moved, or was at the head. */
  movedAtMs: number
}

/** Looks again and again how far the counters projection has come in each partition. */
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

  /** Throws when some partition has stood still for longer than `stuckAfterMs` with records behind it. */
  assertMoving(stuckAfterMs: number): void {
    const now = performance.now()
    for (const [place, { movedAtMs, offset }] of this.#progress) {
      if (now - movedAtMs <= stuckAfterMs) continue
      const seconds = Math.round((now - movedAtMs) / 1000)
      throw new Error(`the counters of ${place} have stood at offset ${offset} for ${seconds} s`)
    }
  }

  #schedule(): void {
    if (this.#isStopped) return
    this.#timer = setTimeout(() => {
      this.#look()
        .catch(this.#parts.onFailure)
        .finally(() => this.#schedule())
    }, this.#parts.intervalMs)
    this.#timer.unref()
  }

  async #look(): Promise<void> {
    const { log, hotState, onApplied } = this.#parts
    for (const environment of environments) {
      const topic = usageTopic(environment)
      for (let partition = 0; partition < log.partitionCount(topic); partition++) {
        const offset = await hotState.appliedOffset(environment, partition)
        this.#note(`${environment}/${partition}`, offset, await log.head(topic, partition))
        onApplied(environment, partition, offset)
      }
    }
  }

  #note(place: string, offset: number, head: number): void {
    const progress = this.#progress.get(place)
    if (progress !== undefined && progress.offset === offset && offset < head) return
    this.#progress.set(place, { offset, movedAtMs: performance.now() })
  }
}
