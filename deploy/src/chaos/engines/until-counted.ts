import { setTimeout as sleep } from 'node:timers/promises'
import type { CustomerLedger } from '../load.ts'
import type { SumsReader } from './sums-reader.ts'

const pollMs = 50

/** Waits until Redis holds, of every customer, what was acknowledged when it was asked for; load may go on meanwhile. */
export function createUntilCounted(
  reader: Pick<SumsReader, 'readRedis'>,
  ledgers: readonly CustomerLedger[],
  patienceMs: number,
): () => Promise<void> {
  return async () => {
    const acked = ledgers.map(({ customerRef, units }) => ({ customerRef, units }))
    const deadline = performance.now() + patienceMs
    for (;;) {
      const isCounted = await Promise.all(
        acked.map(async ({ customerRef, units }) => (await reader.readRedis(customerRef)) >= units),
      ).catch(() => [false])
      if (isCounted.every(Boolean)) return
      if (performance.now() > deadline) {
        const late = acked.filter((_, at) => isCounted[at] !== true).length
        throw new Error(
          `Redis does not hold what was counted of ${late} customers after ${patienceMs / 1000} s.`,
        )
      }
      await sleep(pollMs)
    }
  }
}
