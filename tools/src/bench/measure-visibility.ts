import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { quantile } from '../load/statistics.ts'

export type Visibility = {
  readonly p50Ms: number
  readonly p99Ms: number
  /** Latency of a check without new usage, for comparison. */
  readonly idleP50Ms: number
  readonly idleP99Ms: number
  /** Number of checks that did not show exactly 1 unit less. */
  readonly wrong: number
}

/** Measures the time from the answer of a usage call to the answer of a limit check that shows it. */
export async function measureVisibility(
  client: TollgateClient,
  productRef: string,
  customerRef: string,
  samples: number,
): Promise<Visibility> {
  const visibleMs: number[] = []
  const idleMs: number[] = []
  let wrong = 0
  let { remaining } = await client.checkLimit(customerRef, productRef)
  for (let sample = 0; sample < samples; sample++) {
    await client.recordUsage({ customerRef, productRef, units: 1 })
    const ackedAt = performance.now()
    const check = await client.checkLimit(customerRef, productRef)
    visibleMs.push(performance.now() - ackedAt)
    if (check.remaining !== remaining - 1) wrong++
    remaining = check.remaining
    const idleAt = performance.now()
    await client.checkLimit(customerRef, productRef)
    idleMs.push(performance.now() - idleAt)
  }
  return {
    p50Ms: quantile(visibleMs, 0.5),
    p99Ms: quantile(visibleMs, 0.99),
    idleP50Ms: quantile(idleMs, 0.5),
    idleP99Ms: quantile(idleMs, 0.99),
    wrong,
  }
}
