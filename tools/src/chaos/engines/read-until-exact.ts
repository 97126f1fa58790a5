import { setTimeout as sleep } from 'node:timers/promises'
import { SumsUnreadableError } from '../read-sums.ts'
import { findDifference, type CustomerSums } from './engine-sums.ts'

export type SumsOutcome = {
  readonly sums: readonly CustomerSums[]
  /** One line for each customer whose sums differ. */
  readonly differences: readonly string[]
}

const pollMs = 200
/**
 * Milliseconds to wait after the sums agree. A record that is still in flight and would be counted twice shows within this time.
 */
const recheckDelayMs = 1_000

/**
 * Reads the counted and stored sums while no load runs. Returns when they are exact and stay exact, or after the
 * timeout.
 */
export async function readUntilExact(
  read: () => Promise<readonly CustomerSums[]>,
  timeoutMs: number,
): Promise<SumsOutcome> {
  const deadline = performance.now() + timeoutMs
  for (let exactTimes = 0; ;) {
    const outcome = await tryToRead(read)
    const isLate = performance.now() > deadline
    if (outcome instanceof Error) {
      if (isLate) throw unreadable(timeoutMs, outcome)
      exactTimes = 0
    } else {
      exactTimes = outcome.differences.length === 0 ? exactTimes + 1 : 0
      if (exactTimes === 2 || isLate) return outcome
    }
    await sleep(exactTimes > 0 ? recheckDelayMs : pollMs)
  }
}

/** Returns the error instead of throwing it, because a service that must answer may be restarting. */
async function tryToRead(
  read: () => Promise<readonly CustomerSums[]>,
): Promise<SumsOutcome | Error> {
  try {
    const sums = await read()
    return { sums, differences: sums.map(findDifference).filter((line) => line !== undefined) }
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function unreadable(timeoutMs: number, cause: Error): SumsUnreadableError {
  return new SumsUnreadableError(
    `Waited ${timeoutMs / 1000} s for the sums; the last answer was ${cause.message.replaceAll(/\s+/g, ' ')}`,
    { cause },
  )
}
