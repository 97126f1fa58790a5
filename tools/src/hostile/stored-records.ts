import { setTimeout as sleep } from 'node:timers/promises'
import { requestWithRetries } from '@tollgate/deploy/client/request-with-retries'
import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'

const dayMs = 86_400_000
const timeoutMs = 60_000
const pollMs = 200
/** Milliseconds to wait after the expected count is reached. An excess record would show within this time. */
const recheckDelayMs = 1_500

/**
 * Returns the number of the provider's records in ClickHouse, for all meters and outcomes, for some customers or all. Directly
 * after many requests the service answers 503 for usage that is not stored yet, so the query is repeated.
 */
export async function countStored(
  client: TollgateClient,
  customerRefs?: readonly string[],
): Promise<number> {
  const meters = await requestWithRetries(() => client.listMeters())
  const query = {
    from: new Date(Date.now() - 32 * dayMs).toISOString(),
    to: new Date(Date.now() + 2 * dayMs).toISOString(),
    outcome: 'all',
  }
  const selections = customerRefs?.map((customerRef) => ({ ...query, customerRef })) ?? [query]
  let stored = 0
  for (const { reference } of meters) {
    for (const selection of selections) {
      stored += (await requestWithRetries(() => client.meterUsage(reference, selection))).count
    }
  }
  return stored
}

/** Returns the same number as soon as it reaches `expected`, or after the timeout. */
export async function waitUntilStored(
  client: TollgateClient,
  expected: number,
  customerRefs?: readonly string[],
): Promise<number> {
  for (const deadline = Date.now() + timeoutMs; ; await sleep(pollMs)) {
    const stored = await countStored(client, customerRefs)
    if (stored >= expected) break
    if (Date.now() > deadline) return stored
  }
  await sleep(recheckDelayMs)
  return countStored(client, customerRefs)
}
