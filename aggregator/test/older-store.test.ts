import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import { requireComparedStore } from '@tollgate/domain/stored-usage/store-incarnation'
import { environments } from '@tollgate/schemas/environment'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { recountKey } from '@tollgate/schemas/hot-state/recounts'
import {
  storeAgainKey,
  writeStoreAgainRequest,
} from '@tollgate/schemas/hot-state/store-again-requests'
import { usageTopic } from '@tollgate/schemas/topics'
import { runSinkBatch } from '../src/consume/run-sink-batch.ts'
import { untracedBatches } from '../src/consume/trace-batches.ts'
import type { Aggregator } from '../src/service.ts'
import { expectExactlyOnce, ExpectedUsage, readStored } from './expected-usage.ts'
import { EventGenerator } from './generated-events.ts'
import {
  createInstallation,
  emptyUsageTables,
  partitionCount,
  type EmbeddedInstallation,
} from './installation.ts'
import { ProcessDied } from './interrupted.ts'
import { OwnStore } from './own-store.ts'
import { publishAll, startAggregator, untilAllStored } from './running-aggregator.ts'

/*
 * A power cut or a restored backup leaves a ClickHouse that lacks rows which the sink's position says are stored. Here a
 * copy of its folder that was taken before is put back.
 */

const topic = usageTopic('sandbox')
const timeoutMs = 60_000

let clickhouse: OwnStore
let installation: EmbeddedInstallation
let aggregator: Aggregator | undefined
let generator: EventGenerator
let expected: ExpectedUsage

beforeAll(async () => {
  clickhouse = await OwnStore.start()
}, timeoutMs)

afterAll(() => clickhouse.stop())

beforeEach(async () => {
  await emptyUsageTables(clickhouse)
  installation = await createInstallation({}, { ...clickhouse, stop: async () => {} })
  generator = new EventGenerator(1, 20, Date.UTC(2026, 2, 1, 12))
  expected = new ExpectedUsage()
  await publishAll(installation, generator.customerRefs)
})

afterEach(async () => {
  await stop()
  await installation.remove()
})

async function start(): Promise<void> {
  aggregator = await startAggregator(installation, {
    TOLLGATE_SINK_BATCH_ROWS_MAX: '500',
    TOLLGATE_REPLAY_RECORDS_MAX: '0',
  })
}

async function stop(): Promise<void> {
  await aggregator?.stop()
  aggregator = undefined
}

async function append(total: number): Promise<void> {
  const events = generator.take(total)
  expected.add(events)
  await installation.appendEvents(events)
}

/** Appends as many records, and waits until they are stored. */
async function store(total: number): Promise<void> {
  await append(total)
  await untilAllStored(installation, timeoutMs)
}

async function loseHotState(): Promise<void> {
  await installation.loseHotState()
  await publishAll(installation, generator.customerRefs)
}

/** Leaves an open batch in every partition, of which ClickHouse has got all or nothing. */
async function dieInBatch(reached: 'all' | 'nothing'): Promise<void> {
  const { log, hotState } = installation
  for (let partition = 0; partition < partitionCount; partition += 1) {
    const parts = {
      log,
      hotState,
      usageStore: {
        ...clickhouse.store,
        insert: async (...input: Parameters<OwnStore['store']['insert']>) => {
          if (reached === 'all') await clickhouse.store.insert(...input)
          throw new ProcessDied()
        },
      },
      environment: 'sandbox' as const,
      topic,
      partition,
      readLimits: { recordsMax: 500, bytesMax: 1 << 20 },
      traceBatch: untracedBatches,
      cluster: undefined,
      countersWaitMs: 0,
      newLineage: () => 'lineage',
    }
    const position = await log.position(sinkGroup, topic, partition)
    await expect(runSinkBatch(parts, position)).rejects.toThrow(ProcessDied)
  }
}

async function notesOfSink(): Promise<string[]> {
  const partitions = Array.from({ length: partitionCount }, (_, partition) => partition)
  const positions = partitions.map((each) => installation.log.position(sinkGroup, topic, each))
  return (await Promise.all(positions)).map(({ note }) => note)
}

/** Rows that came twice are one row when ClickHouse has merged them. */
async function expectEqualSums(): Promise<void> {
  await expect
    .poll(async () => (await readStored(clickhouse.store, 'sandbox')).idTotal, {
      timeout: timeoutMs,
    })
    .toBe(expected.storedTotal)
  await untilAllStored(installation, timeoutMs)
  for (const table of ['usage_records', 'credit_debits']) {
    await clickhouse.store.command(`OPTIMIZE TABLE sandbox.${table} FINAL`)
  }
  await expectExactlyOnce(installation, expected, generator.customerRefs, timeoutMs)
}

describe('a ClickHouse that lost rows', { timeout: 3 * timeoutMs }, () => {
  it('stores again what an older copy of ClickHouse lacks, while the sink was stopped', async () => {
    await start()
    await store(400)
    await stop()
    await clickhouse.keepCopy()
    await start()
    await store(1_200)
    await stop()
    await clickhouse.putOlderCopyBack()

    await start()
    await append(100)
    await expectEqualSums()
  })

  it('stores again what an older copy of ClickHouse lacks, under a sink that goes on without new records', async () => {
    await start()
    await store(400)
    await clickhouse.keepCopy()
    await store(800)
    await clickhouse.putOlderCopyBack()

    await expectEqualSums()
  })

  it('refuses sums of a ClickHouse that the sink has not compared with the log since it started', async () => {
    await start()
    await store(300)
    const isBelieved = async (): Promise<boolean> =>
      await requireComparedStore(clickhouse.store, 'sandbox', await notesOfSink()).then(
        () => true,
        (error: unknown) => {
          expect(error).toBeInstanceOf(UsageBehindError)
          return false
        },
      )
    await expect.poll(isBelieved, { timeout: timeoutMs }).toBe(true)
    await stop()
    await clickhouse.restart()
    expect(await isBelieved()).toBe(false)
    await start()
    await expect.poll(isBelieved, { timeout: timeoutMs }).toBe(true)
  })

  it('makes counts that are lost together with rows of ClickHouse from all records of the log', async () => {
    await start()
    await store(400)
    await clickhouse.keepCopy()
    await store(800)
    await stop()
    await clickhouse.putOlderCopyBack()
    await loseHotState()

    await start()
    await expectEqualSums()
  })

  it.each([
    ['restarted', 'all', async () => await clickhouse.restart()],
    ['restarted', 'nothing', async () => await clickhouse.restart()],
    ['replaced by an older copy', 'all', async () => await clickhouse.putOlderCopyBack()],
    ['replaced by an older copy', 'nothing', async () => await clickhouse.putOlderCopyBack()],
  ] as const)(
    'goes on with an open batch when the hot state is lost and ClickHouse is %s, which had got %s of it',
    async (_, reached, endStore) => {
      await start()
      await store(400)
      await clickhouse.keepCopy()
      await store(300)
      await stop()
      await append(300)
      await dieInBatch(reached)
      await endStore()
      await loseHotState()

      await start()
      await store(100)
      await expectEqualSums()
    },
  )

  it('never lowers counts to what ClickHouse has left, when they are to be made again', async () => {
    await start()
    await store(600)
    await expectEqualSums()
    // Not the newest records, so nothing tells of it by itself.
    await clickhouse.store.command(
      `ALTER TABLE sandbox.usage_records DELETE WHERE log_offset < 100 SETTINGS mutations_sync = 2`,
    )
    for (let partition = 0; partition < partitionCount; partition += 1) {
      await installation.hotState.putDocument(recountKey('sandbox', partition), 'now')
    }
    for (let partition = 0; partition < partitionCount; partition += 1) {
      await expect
        .poll(() => installation.hotState.readDocument(recountKey('sandbox', partition)), {
          timeout: timeoutMs,
        })
        .toBeUndefined()
    }
    await expectEqualSums()
  })

  it('compares the whole log when it is asked to, and goes on where it was stopped', async () => {
    await start()
    await store(1_500)
    await clickhouse.store.command(
      `ALTER TABLE sandbox.usage_records DELETE WHERE log_offset BETWEEN 100 AND 110 SETTINGS mutations_sync = 2`,
    )
    const request = writeStoreAgainRequest({ wantedAt: new Date().toISOString() })
    for (const environment of environments) {
      for (let partition = 0; partition < partitionCount; partition += 1) {
        await installation.hotState.putDocument(storeAgainKey(environment, partition), request)
      }
    }
    await stop()
    await start()
    for (const environment of environments) {
      for (let partition = 0; partition < partitionCount; partition += 1) {
        await expect
          .poll(() => installation.hotState.readDocument(storeAgainKey(environment, partition)), {
            timeout: timeoutMs,
          })
          .toBeUndefined()
      }
    }
    await expectEqualSums()
  })
})
