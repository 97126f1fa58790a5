import { setTimeout as sleep } from 'node:timers/promises'
import { askWithRetries } from '@tollgate/deploy/client/ask-with-retries'
import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'

const dayMs = 86_400_000
const patienceMs = 60_000
const pollMs = 200
/** After the expected count is there, a record that should not be would show within this time. */
const settleMs = 1_500

/**
 * Records of the provider in ClickHouse, of all its meters and whatever their outcome; of some customers, or of all. Right
 * after many requests the service answers 503 for usage that is not stored yet, so it is asked again.
 */
export async function countStored(
  client: TollgateClient,
  customerRefs?: readonly string[],
): Promise<number> {
  const meters = await askWithRetries(() => client.listMeters())
  const query = {
    from: new Date(Date.now() - 32 * dayMs).toISOString(),
    to: new Date(Date.now() + 2 * dayMs).toISOString(),
    outcome: 'all',
  }
  const selections = customerRefs?.map((customerRef) => ({ ...query, customerRef })) ?? [query]
  let stored = 0
  for (const { reference } of meters) {
    for (const selection of selections) {
      stored += (await askWithRetries(() => client.meterUsage(reference, selection))).count
    }
  }
  return stored
}

/** The same, once there are at least as many as expected, or the patience has run out. */
export async function untilStored(
  client: TollgateClient,
  expected: number,
  customerRefs?: readonly string[],
): Promise<number> {
  for (const deadline = Date.now() + patienceMs; ; await sleep(pollMs)) {
    const stored = await countStored(client, customerRefs)
    if (stored >= expected) break
    if (Date.now() > deadline) return stored
  }
  await sleep(settleMs)
  return countStored(client, customerRefs)
}
