import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import type { Environment } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'

type Parts = {
  readonly eventLog: Pick<EventLog, 'head' | 'position' | 'read'>
  readonly partitionCount: (environment: Environment) => number
}

/**
 * Returns the age of the oldest acknowledged record that is not stored yet, in milliseconds, and 0 if all records are stored. The log
 * has the records of all providers, so their number is not returned.
 */
export async function storedDelayMs(
  { eventLog, partitionCount }: Parts,
  environment: Environment,
  nowMs: number,
): Promise<number> {
  const topic = usageTopic(environment)
  const partitions = Array.from({ length: partitionCount(environment) }, (_, index) => index)
  const delays = await Promise.all(
    partitions.map(async (partition) => {
      const head = await eventLog.head(topic, partition)
      const { offset } = await eventLog.position(sinkGroup, topic, partition)
      if (offset >= head) return 0
      const [first] = await eventLog.read(topic, partition, offset, firstRecord)
      return first === undefined ? 0 : Math.max(0, nowMs - first.receivedAtMs)
    }),
  )
  return Math.max(0, ...delays)
}

const firstRecord = { recordsMax: 1, bytesMax: 1 }
