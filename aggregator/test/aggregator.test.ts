import { afterEach, beforeEach, expect, it } from 'vitest'
import { sumStoredUsageByWindow } from '@tollgate/domain/stored-usage/query-stored-usage'
import { waitUntilStored } from '@tollgate/domain/stored-usage/stored-up-to'
import { listTotalledRanges } from '@tollgate/domain/stored-usage/totalled-ranges'
import { usageTopic } from '@tollgate/schemas/topics'
import { readAggregatorConfig } from '../src/config.ts'
import { createAggregator, type Aggregator } from '../src/service.ts'
import { expectExactlyOnce, ExpectedUsage, openWindows, untilStored } from './expected-usage.ts'
import { EventGenerator } from './generated-events.ts'
import { createInstallation, partitionOfEvent, type Installation } from './installation.ts'
import { meterEvent } from './meter-event.ts'

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

it('makes totals of what it stores, and sums up to the position of the sink read them', async () => {
  const startMs = Date.UTC(2026, 2, 1)
  const events = Array.from({ length: 650 }, (_, at) =>
    meterEvent({ id: `usage_${at}`, value: 1_000_000 + at, timestamp: startMs + at * 20_000 }),
  )
  await installation.appendEvents(events)
  await startAggregator({
    TOLLGATE_USAGE_TOTALS_RANGE_RECORDS: '100',
    TOLLGATE_USAGE_TOTALS_INTERVAL_MS: '50',
  })
  await untilStored(installation.clickhouse.store, 650, 25_000)
  const { log: eventLog, clickhouse } = installation
  const partition = partitionOfEvent(events[0]!)
  const readParts = async () => {
    const parts = { eventLog, usageStore: clickhouse.store }
    return (await waitUntilStored(parts, 'sandbox', [partition], () => new Date(), 5_000)).parts
  }
  await expect
    .poll(async () => listTotalledRanges(clickhouse.store, 'sandbox', await readParts()), {
      timeout: 25_000,
    })
    .toHaveLength(6)
  const query = {
    environment: 'sandbox',
    providerId: 'prov_1',
    customerRefs: ['cus_1'],
    productRef: 'prd_a',
    meterName: 'requests',
  } as const
  const window = { fromSecond: startMs / 1_000, toSecond: startMs / 1_000 + 86_400 }
  const total = events.reduce((sum, { value }) => sum + BigInt(value), 0n)
  const sum = async () =>
    sumStoredUsageByWindow(clickhouse.store, query, [window], await readParts())
  expect(await sum()).toEqual([total])
  // The window cuts no hour, so the rows of complete ranges are not needed.
  await clickhouse.store.command('DELETE FROM sandbox.usage_records WHERE log_offset < 600')
  expect(await sum()).toEqual([total])
})
