import { setTimeout as sleep } from 'node:timers/promises'
import type { ShouldContinue } from './lanes.ts'

export type Arrivals = {
  readonly perSecond: number
  readonly shouldContinue: ShouldContinue
  /** Maximum acts in flight. Further acts wait, so that a service that is stopped is not flooded. Default: no limit. */
  readonly inFlightMax?: number
  /** Called when an act is due, independent of earlier acts. */
  readonly act: (number: number, dueMs: number) => Promise<void>
}

/**
 * Begins acts at fixed times and not one after the other, so that slow answers do not reduce the load. Resolves when all have
 * ended. Rejects with the first failure, after which no further act begins.
 */
export async function runArrivals(arrivals: Arrivals): Promise<void> {
  const { perSecond, shouldContinue, inFlightMax = Infinity, act } = arrivals
  const inFlight = new Set<Promise<unknown>>()
  const failures: unknown[] = []
  const startMs = performance.now()
  for (let number = 0; ; number++) {
    const dueMs = startMs + (number * 1_000) / perSecond
    const waitMs = dueMs - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    while (inFlight.size >= inFlightMax) await Promise.race(inFlight)
    if (failures.length > 0 || !shouldContinue()) break
    const ended = act(number, dueMs)
      .catch((error: unknown) => failures.push(error))
      .finally(() => inFlight.delete(ended))
    inFlight.add(ended)
  }
  await Promise.all(inFlight)
  if (failures.length > 0) throw failures[0]
}
