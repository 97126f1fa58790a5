import { setTimeout as sleep } from 'node:timers/promises'
import { SumsUnreadableError } from '../read-sums.ts'
import { findDifference, type CustomerSums } from './engine-sums.ts'

export type SumsOutcome = {
  readonly sums: readonly CustomerSums[]
  /** One line for each customer whose sums differ. */
  readonly differences: readonly string[]
}

const pollMs = 200
/** After the sums agree, what is still on its way and would be counted a second time shows within this time. */
const settleMs = 1_000

/** Reads what is counted and stored while no load runs, until it is exact and stays so, or the patience runs out. */
export async function readUntilExact(
  read: () => Promise<readonly CustomerSums[]>,
  patienceMs: number,
): Promise<SumsOutcome> {
  const deadline = performance.now() + patienceMs
  for (let exactTimes = 0; ;) {
    const outcome = await tryToRead(read)
    const isLate = performance.now() > deadline
    if (outcome instanceof Error) {
      if (isLate) throw unreadable(patienceMs, outcome)
      exactTimes = 0
    } else {
      exactTimes = outcome.differences.length === 0 ? exactTimes + 1 : 0
      if (exactTimes === 2 || isLate) return outcome
    }
    await sleep(exactTimes > 0 ? settleMs : pollMs)
  }
}

/** Whoever answers may be the one that is starting again. */
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

function unreadable(patienceMs: number, cause: Error): SumsUnreadableError {
  return new SumsUnreadableError(
    `Waited ${patienceMs / 1000} s for the sums; the last answer was ${cause.message.replaceAll(/\s+/g, ' ')}`,
    { cause },
  )
}
