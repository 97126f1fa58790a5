import type { Clock } from '@tollgate/platform/clock/clock'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { recountKey } from '@tollgate/schemas/hot-state/recounts'
import {
  storeAgainKey,
  writeStoreAgainRequest,
} from '@tollgate/schemas/hot-state/store-again-requests'
import type { Partition } from './partition-parts.ts'

/** Milliseconds that the counters wait for the sink to reach their offset, before they continue counting until the next check. */
const sinkWaitMs = 2_000
const sinkPauseMs = 20

export type RecountParts = Partition & {
  readonly clock: Clock
  /** Milliseconds between two checks for a requested recount. */
  readonly repairRequestsIntervalMs: number
}

type RecountStep =
  | { readonly kind: 'none' }
  /** The sink has not reached the counters' position yet. */
  | { readonly kind: 'wait'; readonly waitMs: number }
  /** Every record below the counters' position is stored, so the recount begins. */
  | { readonly kind: 'now' }

/**
 * Decides when a recount begins that an operator or `reconcile` requested because the counts of a partition are wrong. It begins at
 * the counters' position, so that nothing that was counted meanwhile, including wallet debits, is ever missing.
 *
 * ClickHouse may have lost records, and counts from the remaining ones would be too low. So the sink first compares the whole log
 * with the stored records and stores missing ones again. Counting continues meanwhile.
 */
export class Recount {
  readonly #at: RecountParts
  #checkedAtMs = -Infinity
  #waitsSinceMs: number | undefined
  /** True if this recount has requested that the sink stores missing records again. */
  #isStoringAgain = false

  constructor(at: RecountParts) {
    this.#at = at
  }

  async step(position: number): Promise<RecountStep> {
    const { log, topic, partition } = this.#at
    if (!(await this.#isRequested())) return { kind: 'none' }
    if (!(await this.#isStoredAgain())) return { kind: 'none' }
    // A sink that never stored a record has no position.
    const stored = await log.position(sinkGroup, topic, partition)
    if (position === 0 || (stored.note !== '' && stored.offset >= position)) return { kind: 'now' }
    this.#waitsSinceMs ??= performance.now()
    if (performance.now() - this.#waitsSinceMs < sinkWaitMs) {
      return { kind: 'wait', waitMs: sinkPauseMs }
    }
    this.#waitsSinceMs = undefined
    return { kind: 'none' }
  }

  async #isRequested(): Promise<boolean> {
    if (this.#waitsSinceMs !== undefined) return true
    const { hotState, environment, partition, clock, repairRequestsIntervalMs } = this.#at
    const nowMs = clock.now()
    // The absolute value lets the check run after the clock was set back, too.
    if (Math.abs(nowMs - this.#checkedAtMs) < repairRequestsIntervalMs) return false
    this.#checkedAtMs = nowMs
    return (await hotState.readDocument(recountKey(environment, partition))) !== undefined
  }

  /** After a crash between the request and its completion, the next process requests it again, which changes nothing. */
  async #isStoredAgain(): Promise<boolean> {
    if (this.#waitsSinceMs !== undefined) return true
    const { hotState, environment, partition, clock } = this.#at
    const key = storeAgainKey(environment, partition)
    if (this.#isStoringAgain) return (await hotState.readDocument(key)) === undefined
    const wantedAt = new Date(clock.now()).toISOString()
    await hotState.putDocument(key, writeStoreAgainRequest({ wantedAt }))
    this.#isStoringAgain = true
    return false
  }

  /** After a crash before this call, the recount is repeated, which changes nothing. */
  async done(): Promise<void> {
    const { hotState, environment, partition } = this.#at
    await hotState.deleteDocument(recountKey(environment, partition))
    this.#waitsSinceMs = undefined
    this.#isStoringAgain = false
  }
}
