import { afterEach, beforeEach, expect, it } from 'vitest'
import { usageTopic } from '@tollgate/schemas/topics'
import { readAggregatorConfig } from '../src/config.ts'
import { createAggregator, type Aggregator } from '../src/service.ts'
import { expectExactlyOnce, ExpectedUsage, openWindows, untilStored } from './expected-usage.ts'
import { EventGenerator } from './generated-events.ts'
import { createInstallation, type Installation } from './installation.ts'

let installation: Installation
let aggregator: Aggregator | undefined

beforeEach(async () => {
  installation = await createInstallation()
})

afterEach(async () => {
  await aggregator?.stop()
  aggregator = undefined
  await installation.remove()
})

async function startAggregator(settings: Record<string, string> = {}): Promise<Aggregator> {
  const { connection } = installation.clickhouse
  const config = readAggregatorConfig({
    TOLLGATE_DATA_DIR: installation.dataDir,
    TOLLGATE_CLICKHOUSE_URL: connection.url,
    TOLLGATE_CLICKHOUSE_USERNAME: connection.username,
    TOLLGATE_CLICKHOUSE_PASSWORD: connection.password,
    TOLLGATE_LOG_LEVEL: 'error',
    TOLLGATE_SINK_DELAY_MS: '50',
    ...settings,
  })
  aggregator = createAggregator(config, {
    eventLog: installation.log,
    hotState: installation.hotState,
  })
  await aggregator.start()
  return aggregator
}

it('counts and stores 100,000 events with repeated keys and late events exactly once', async () => {
  const generator = new EventGenerator(1, 200, Date.UTC(2026, 2, 1, 12))
  const expected = new ExpectedUsage()
  await openWindows(installation.hotState, generator.customerRefs)
  await startAggregator({ TOLLGATE_SINK_BATCH_ROWS_MAX: '5000' })
  for (let round = 0; round < 100; round++) {
    const events = generator.take(1_000)
    expected.add(events)
    await installation.appendEvents(events)
  }
  await expectExactlyOnce(installation, expected, generator.customerRefs, 25_000)
})

it('stores unreadable records separately, and a batch may span more months than ClickHouse accepts in one block', async () => {
  const generator = new EventGenerator(2, 1, Date.UTC(2026, 2, 1))
  const events = generator.take(150).map((event, index) => ({
    ...event,
    id: `usage_${index}`,
    idempotencyKey: null,
    timestamp: Date.UTC(2010, index, 1),
  }))
  const topic = usageTopic('sandbox')
  await installation.log.append(topic, 0, Uint8Array.of(1, 2, 3), 1_000)
  await installation.appendEvents(events)
  await startAggregator()
  await untilStored(installation.clickhouse.store, 150, 25_000)

  const rows = await installation.clickhouse.store.query(
    'SELECT log_partition, log_offset, raw FROM sandbox.unreadable_records',
  )
  expect(rows).toEqual([{ log_partition: 0, log_offset: '0', raw: 'AQID' }])
})
