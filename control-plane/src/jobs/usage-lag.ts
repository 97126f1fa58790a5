import { environments, type Environment } from '@tollgate/schemas/environment'
import type { LogPositions } from '@tollgate/domain/postgres/log-positions'

/**
 * Measures how far `usage.recorded` is behind the sink, by the positions in PostgreSQL. Every process measures the same lag,
 * whichever process emits the events. The lag grows while no process emits them, and while the position of the sink cannot be read.
 */
export class UsageLag {
  readonly #nowMs: () => number
  readonly #spaces: ReadonlyMap<Environment, { levelAtMs: number; seen: Observation | undefined }>

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
    this.#spaces = new Map(
      environments.map((each) => [each, { levelAtMs: nowMs(), seen: undefined }]),
    )
  }

  /** Records the position of the sink, and the position up to which events were emitted or skipped. */
  record(environment: Environment, stored: LogPositions, emitted: LogPositions): void {
    const space = this.#spaces.get(environment)!
    if (space.seen !== undefined && !hasReached(emitted, space.seen.stored)) return
    if (space.seen !== undefined) space.levelAtMs = space.seen.atMs
    space.seen = { atMs: this.#nowMs(), stored }
  }

  /**
   * Returns the seconds since the sink was at the current position of the events. This is at most the time of 2 rounds if the job
   * keeps up.
   */
  seconds(environment: Environment): number {
    return (this.#nowMs() - this.#spaces.get(environment)!.levelAtMs) / 1_000
  }
}

type Observation = { readonly atMs: number; readonly stored: LogPositions }

function hasReached(emitted: LogPositions, stored: LogPositions): boolean {
  return [...stored].every(([partition, offset]) => (emitted.get(partition) ?? 0) >= offset)
}
