import { afterEach, beforeEach, describe, expect, it } from 'vitest'
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
import { createInstallation, partitionCount, type EmbeddedInstallation } from './installation.ts'
import { ProcessDied } from './interrupted.ts'
import { OwnStore } from './own-store.ts'
import { publishAll, startAggregator, untilAllStored } from './running-aggregator.ts'

/*
 * After a power cut or from a restored backup, ClickHouse lacks rows that are stored according to the sink's position. These tests
 * put back an older copy of its folder.
 */

const topic = usageTopic('sandbox')
const timeoutMs = 60_000

let clickhouse: OwnStore
let installation: EmbeddedInstallation
let aggregator: Aggregator | undefined
let generator: EventGenerator
let expected: ExpectedUsage

// Each test has its own store. One that is reused starts slower each time, because it still has the tables that were dropped.
beforeEach(async () => {
  clickhouse = await OwnStore.start()
  installation = await createInstallation({}, { ...clickhouse, stop: async () => {} })
  generator = new EventGenerator(1, 20, Date.UTC(2026, 2, 1, 12))
  expected = new ExpectedUsage()
  await publishAll(installation, generator.customerRefs)
}, timeoutMs)

afterEach(async () => {
  await stop()
  await installation.remove()
  await clickhouse.stop()
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

/** Appends `total` records and waits until they are stored. */
async function store(total: number): Promise<void> {
  await append(total)
  await untilAllStored(installation, timeoutMs)
}

async function loseHotState(): Promise<void> {
  await installation.loseHotState()
  await publishAll(installation, generator.customerRefs)
}

/** Leaves an open batch in every partition. ClickHouse has all of its rows or none. */
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

/** Rows that were inserted twice are one row once ClickHouse has merged them. */
async function expectEqualSums(): Promise<void> {
  await expect
    .poll(async () => (await readStored(clickhouse.store, 'sandbox')).idTotal, {
      timeout: timeoutMs,
    })
    .toBe(expected.idTotal)
  await untilAllStored(installation, timeoutMs)
  for (const table of ['usage_records', 'credit_debits']) {
    await clickhouse.store.command(`OPTIMIZE TABLE sandbox.${table} FINAL`)
  }
  await expectExactlyOnce(installation, expected, generator.customerRefs, timeoutMs)
}

describe('a ClickHouse that lost rows', { timeout: 3 * timeoutMs }, () => {
  it('gets the missing records again when an older copy replaced it while the sink was stopped', async () => {
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

  it('gets the missing records again when an older copy replaced it under a running sink without new records', async () => {
    await start()
    await store(400)
    await clickhouse.keepCopy()
    await store(800)
    await clickhouse.putOlderCopyBack()

    await expectEqualSums()
  })

  it('is not used for sums until the sink has compared it with the log since it started', async () => {
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

  it('is completed from the log before lost counts of the hot state are rebuilt from it', async () => {
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
    'stores an open batch once when the hot state is lost and ClickHouse is %s, which had %s of the batch',
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

  it('never lowers counts to its remaining rows when a recount is requested', async () => {
    await start()
    await store(600)
    await expectEqualSums()
    // The newest records stay, so no automatic check detects the loss.
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

  it('is compared with the whole log on request, and the comparison continues where it was stopped', async () => {
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
