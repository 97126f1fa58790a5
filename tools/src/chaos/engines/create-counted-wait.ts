import { setTimeout as sleep } from 'node:timers/promises'
import type { CustomerLedger } from '../../load/ledger.ts'
import type { EngineStores } from './engine-stores.ts'

const pollMs = 50
/** Number of customers that are read from Redis concurrently, so that other work in Redis is not delayed. */
const customersAtOnce = 1_000

/**
 * Returns a function that waits until Redis contains, for every customer, the units acknowledged at the time of the call. The load
 * may continue meanwhile.
 */
export function createCountedWait(
  stores: Pick<EngineStores, 'readRedis'>,
  ledgers: readonly CustomerLedger[],
  timeoutMs: number,
): () => Promise<void> {
  return async () => {
    const deadline = performance.now() + timeoutMs
    let uncounted = ledgers.map(({ customerRef, units }) => ({ customerRef, units }))
    for (;;) {
      uncounted = await findUncounted(stores, uncounted)
      if (uncounted.length === 0) return
      if (performance.now() > deadline) {
        throw new Error(
          `Redis lacks acknowledged units of ${uncounted.length} customers after ${timeoutMs / 1000} s.`,
        )
      }
      await sleep(pollMs)
    }
  }
}

type Acked = Pick<CustomerLedger, 'customerRef' | 'units'>

async function findUncounted(
  stores: Pick<EngineStores, 'readRedis'>,
  acked: readonly Acked[],
): Promise<Acked[]> {
  const uncounted: Acked[] = []
  for (let first = 0; first < acked.length; first += customersAtOnce) {
    const some = acked.slice(first, first + customersAtOnce)
    const units = await Promise.all(
      some.map(async ({ customerRef }) => await stores.readRedis(customerRef)),
    ).catch(() => undefined)
    uncounted.push(...some.filter((each, at) => (units?.[at] ?? -1) < each.units))
  }
  return uncounted
}
