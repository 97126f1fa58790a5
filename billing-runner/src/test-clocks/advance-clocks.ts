import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  claimAdvancingClock,
  releaseClock,
  type AdvancingClock,
} from '@tollgate/domain/test-clocks/advance-lease'
import type { Service } from '@tollgate/platform/service/service'
import { advanceClock, type AdvanceParts, type ClockJob } from './advance-clock.ts'

export type ClockRunnerParts = AdvanceParts & {
  readonly limits: AdvanceParts['limits'] & {
    /** How often a runner looks for clocks to advance, in milliseconds. */
    readonly testClockLookMs: number
    /** Clocks that a runner advances at the same time. */
    readonly testClocksInFlightMax: number
  }
}

/** Advances the clocks whose advance was requested, some at a time. Any number of runners share them. */
export function createClockRunner(parts: ClockRunnerParts, jobs: readonly ClockJob[]): Service {
  const stopping = new AbortController()
  let lanes: Promise<void>[] = []
  return {
    start: async () => {
      lanes = Array.from({ length: parts.limits.testClocksInFlightMax }, () =>
        runLane(parts, jobs, stopping.signal),
      )
    },
    stop: async () => {
      stopping.abort()
      await Promise.all(lanes)
    },
  }
}

/** Real pause after an error, in milliseconds. */
const errorPauseMs = 1_000

async function runLane(
  parts: ClockRunnerParts,
  jobs: readonly ClockJob[],
  stopping: AbortSignal,
): Promise<void> {
  const { publisher, logger, limits } = parts
  const pool = publisher.database.in('sandbox')
  while (!stopping.aborted) {
    let claimed: AdvancingClock | undefined
    let pauseMs = limits.testClockLookMs
    try {
      claimed = await claimAdvancingClock(pool, randomUUID(), limits.claimLeaseMs)
      if (claimed !== undefined) {
        await advanceClock(parts, jobs, claimed, stopping)
        continue
      }
    } catch (error) {
      logger.error({ err: error, clock: claimed?.reference }, 'a test clock is tried again later')
      // If this fails too, the lease expires.
      if (claimed !== undefined) await releaseClock(pool, claimed).catch(() => undefined)
      pauseMs = errorPauseMs
    }
    await sleep(pauseMs, undefined, { signal: stopping }).catch(() => undefined)
  }
}
