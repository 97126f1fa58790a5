import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'
import { partitionsOf } from '../billing/measure-usage.ts'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import { storedSoFar, waitUntilStored, type StoredUpTo } from '../stored-usage/stored-up-to.ts'

export type UsageReadingParts = {
  readonly eventLog: Pick<EventLog, 'partitionCount' | 'head' | 'position' | 'read'>
  readonly usageStore: Pick<UsageStore, 'query'>
  /** How long to wait until the usage store contains all acknowledged usage, in milliseconds. */
  readonly storedWaitMs: number
  readonly now: () => Date
}

/** The stored usage of some customers at one instant, from which all sums of a preview are read. */
export type UsageSnapshot = {
  readonly stored: StoredUpTo
  /** All usage that was received before this time is in the snapshot. */
  readonly usageAsOf: Date
}

/** One record is enough to learn when it was received. */
const firstRecord = { recordsMax: 1, bytesMax: 1 } as const

/**
 * Waits for the usage that was acknowledged before the call. If the usage store is further behind than the wait, the snapshot has
 * what is stored, and `usageAsOf` is the time at which the oldest missing record was received.
 */
export async function readUsageSnapshot(
  { eventLog, usageStore, storedWaitMs, now }: UsageReadingParts,
  environment: Environment,
  providerId: string,
  customerRefs: readonly string[],
): Promise<UsageSnapshot> {
  const topic = usageTopic(environment)
  const partitions = partitionsOf(providerId, customerRefs, eventLog.partitionCount(topic))
  const sides = { eventLog, usageStore }
  try {
    const stored = await waitUntilStored(sides, environment, partitions, now, storedWaitMs)
    return { stored, usageAsOf: stored.watermark }
  } catch (error) {
    if (!(error instanceof UsageBehindError)) throw error
  }
  const stored = await storedSoFar(sides, environment, partitions, now)
  let usageAsOf = stored.watermark
  for (const { partition, beforeOffset } of stored.parts) {
    const [missing] = await eventLog.read(topic, partition, beforeOffset, firstRecord)
    const receivedAt = missing && new Date(missing.receivedAtMs)
    if (receivedAt !== undefined && receivedAt < usageAsOf) usageAsOf = receivedAt
  }
  return { stored, usageAsOf }
}
