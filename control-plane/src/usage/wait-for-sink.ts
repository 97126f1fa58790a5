import { setTimeout as sleep } from 'node:timers/promises'
import { isComparedStore } from '@tollgate/domain/stored-usage/store-incarnation'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import type { Environment } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'

const pollIntervalMs = 20
/**
 * Interval in milliseconds at which this process checks the comparison. The sink checks every 2 seconds whether ClickHouse has
 * restarted.
 */
const comparedPollIntervalMs = 200

export type SinkParts = {
  readonly eventLog: Pick<EventLog, 'head' | 'position'>
  readonly usageStore: Pick<UsageStore, 'query'>
}

/**
 * Waits until the usage store contains every record that the log contained at the time of the call, so that a query after an
 * acknowledgement includes the usage. Returns false if this takes longer than `waitMs`. After a restart, ClickHouse may lack rows
 * until the sink has compared it with the log.
 */
export async function waitForSink(
  { eventLog: log, usageStore }: SinkParts,
  environment: Environment,
  partitions: readonly number[],
  waitMs: number,
): Promise<boolean> {
  const topic = usageTopic(environment)
  const deadlineMs = performance.now() + waitMs
  const heads = await Promise.all(partitions.map(async (partition) => log.head(topic, partition)))
  for (;;) {
    const positions = await Promise.all(
      partitions.map((partition) => log.position(sinkGroup, topic, partition)),
    )
    const isStored = positions.every(({ offset }, index) => offset >= heads[index]!)
    const notes = positions.map(({ note }) => note)
    if (isStored && (await isComparedStore(usageStore, environment, notes))) return true
    if (performance.now() >= deadlineMs) return false
    await sleep(isStored ? comparedPollIntervalMs : pollIntervalMs)
  }
}
