import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { MeterEventFormatError } from '@tollgate/schemas/meter-event'
import { decodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { usageTopic } from '@tollgate/schemas/topics'
import type { RecentKeys } from './recent-keys.ts'

const readLimits = { recordsMax: 10_000, bytesMax: 8 * 1024 * 1024 }

/**
 * Learns the keys that were acknowledged before this process started and have no mark so far, so that a client which
 * retries across a crash is told 'duplicate'. Reads no more records than `recordsMax`, the newest of each partition:
 * a projection that was away for long must not hold up the start.
 */
export async function loadRecentKeys(
  log: EventLog,
  hotState: Pick<HotState, 'appliedOffset'>,
  recentKeys: RecentKeys,
  recordsMax: number,
): Promise<void> {
  for (const environment of environments) {
    const partitionCount = log.partitionCount(usageTopic(environment))
    const share = Math.ceil(recordsMax / partitionCount)
    for (let partition = 0; partition < partitionCount; partition++) {
      const applied = await hotState.appliedOffset(environment, partition)
      await loadPartition(log, recentKeys, environment, partition, applied, share)
    }
  }
}

async function loadPartition(
  log: EventLog,
  recentKeys: RecentKeys,
  environment: Environment,
  partition: number,
  applied: number,
  recordsMax: number,
): Promise<void> {
  const topic = usageTopic(environment)
  const head = await log.head(topic, partition)
  const oldest = await log.oldest(topic, partition)
  let offset = Math.max(applied, head - recordsMax, oldest)
  while (offset < head) {
    const records = await log.read(topic, partition, offset, readLimits)
    if (records.length === 0) return
    for (const record of records) {
      const id = keyedId(record.value)
      if (id !== undefined) recentKeys.add(environment, partition, id, record.offset)
    }
    offset = records.at(-1)!.offset + 1
  }
}

function keyedId(value: Uint8Array): string | undefined {
  try {
    const event = decodeMeterEvent(value)
    return event.idempotencyKey === null ? undefined : event.id
  } catch (error) {
    // The projections report unreadable records; here they only have no key.
    if (error instanceof MeterEventFormatError) return undefined
    throw error
  }
}
