import { environments, type Environment } from '@tollgate/schemas/environment'
import type { LogPositions } from '@tollgate/domain/usage-events/positions'

/**
 * How far usage.recorded is behind the sink, by the positions in PostgreSQL: whichever process tells, each knows it. It grows
 * while nobody tells, and while nobody can say where the sink stands.
 */
export class UsageLag {
  readonly #nowMs: () => number
  readonly #spaces: ReadonlyMap<Environment, { levelAtMs: number; seen: Seen | undefined }>

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
    this.#spaces = new Map(
      environments.map((each) => [each, { levelAtMs: nowMs(), seen: undefined }]),
    )
  }

  /** Where the sink stands, and up to where usage was told of, or passed over. */
  note(environment: Environment, stored: LogPositions, told: LogPositions): void {
    const space = this.#spaces.get(environment)!
    if (space.seen !== undefined && !reaches(told, space.seen.stored)) return
    if (space.seen !== undefined) space.levelAtMs = space.seen.atMs
    space.seen = { atMs: this.#nowMs(), stored }
  }

  /** Since the sink stood where telling stands now: no more than two rounds where it keeps up. */
  seconds(environment: Environment): number {
    return (this.#nowMs() - this.#spaces.get(environment)!.levelAtMs) / 1_000
  }
}

type Seen = { readonly atMs: number; readonly stored: LogPositions }

function reaches(told: LogPositions, stored: LogPositions): boolean {
  return [...stored].every(([partition, offset]) => (told.get(partition) ?? 0) >= offset)
}
