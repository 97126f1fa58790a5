import { expect } from 'vitest'
import { createLogger } from '@tollgate/platform/observability/logger'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { usageTopic } from '@tollgate/schemas/topics'
import { readAggregatorConfig } from '../src/config.ts'
import { createAggregator, type Aggregator } from '../src/service.ts'
import { openWindows } from './expected-usage.ts'
import { partitionCount, type Installation } from './installation.ts'
import { markPublished } from './mark-published.ts'

/** Starts an aggregator in this process on the open log, hot state and ClickHouse of an installation. */
export async function startAggregator(
  { dataDir, log, hotState, clickhouse }: Installation,
  settings: Readonly<Record<string, string>> = {},
): Promise<Aggregator> {
  const config = readAggregatorConfig({
    TOLLGATE_DATA_DIR: dataDir,
    TOLLGATE_CLICKHOUSE_URL: 'http://127.0.0.1:1',
    TOLLGATE_SINK_DELAY_MS: '20',
    TOLLGATE_REPAIR_REQUESTS_INTERVAL_MS: '50',
    TOLLGATE_MARKS_RETENTION_DAYS: '3650',
    ...settings,
  })
  const aggregator = createAggregator(config, {
    eventLog: log,
    hotState,
    usageStore: clickhouse.store,
    logger: createLogger('aggregator', 'silent'),
  })
  await aggregator.start()
  return aggregator
}

/** Publishes the windows of all customers, as the control plane does for a new hot state or after a loss. */
export async function publishAll(
  { hotState }: Installation,
  customerRefs: Iterable<string>,
): Promise<void> {
  await openWindows(hotState, customerRefs)
  await markPublished(hotState, partitionCount)
}

/** Waits until the sink has stored all records of the sandbox that are in the log. */
export async function untilAllStored({ log }: Installation, timeoutMs: number): Promise<void> {
  const topic = usageTopic('sandbox')
  for (let partition = 0; partition < partitionCount; partition += 1) {
    await expect
      .poll(async () => (await log.position(sinkGroup, topic, partition)).offset, {
        timeout: timeoutMs,
      })
      .toBe(log.head(topic, partition))
  }
}
