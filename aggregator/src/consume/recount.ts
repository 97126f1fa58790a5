import type { Clock } from '@tollgate/platform/clock/clock'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { recountKey } from '@tollgate/schemas/hot-state/recounts'
import type { Partition } from './partition-parts.ts'

/** Between two looks at whether somebody wants it. */
const lookIntervalMs = 5_000

/** So long counting waits for the sink to come to the same place; then it goes on until the next look. */
const sinkWaitMs = 2_000
const sinkPauseMs = 20

export type Wish =
  | { readonly kind: 'none' }
  /** The sink is not there yet. */
  | { readonly kind: 'wait'; readonly waitMs: number }
  /** Every record before the place where counting stands is stored. */
  | { readonly kind: 'now' }

/**
 * Whether the counts of a partition are to be made again although they are there, because they are wrong. That begins where
 * counting stands, so that what was counted meanwhile, and with it what wallets have paid, is never missing.
 */
export class Recount {
  readonly #at: Partition & { readonly clock: Clock }
  #lookedAtMs = -Infinity
  #waitsSinceMs: number | undefined

  constructor(at: Partition & { readonly clock: Clock }) {
    this.#at = at
  }

  async look(position: number): Promise<Wish> {
    const { log, topic, partition } = this.#at
    if (!(await this.#isWanted())) return { kind: 'none' }
    // A sink that was never given anything has no position.
    const stored = await log.position(sinkGroup, topic, partition)
    if (position === 0 || (stored.note !== '' && stored.offset >= position)) return { kind: 'now' }
    this.#waitsSinceMs ??= performance.now()
    if (performance.now() - this.#waitsSinceMs < sinkWaitMs) {
      return { kind: 'wait', waitMs: sinkPauseMs }
    }
    this.#waitsSinceMs = undefined
    return { kind: 'none' }
  }

  async #isWanted(): Promise<boolean> {
    if (this.#waitsSinceMs !== undefined) return true
    const { hotState, environment, partition, clock } = this.#at
    const nowMs = clock.now()
    // Also after a clock was set back.
    if (Math.abs(nowMs - this.#lookedAtMs) < lookIntervalMs) return false
    this.#lookedAtMs = nowMs
    return (await hotState.readDocument(recountKey(environment, partition))) !== undefined
  }

  /** Killed before this, it is done once more, which changes nothing. */
  async done(): Promise<void> {
    const { hotState, environment, partition } = this.#at
    await hotState.deleteDocument(recountKey(environment, partition))
    this.#waitsSinceMs = undefined
  }
}
