import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  sumStoredUsageByWindow,
  type StoredPart,
} from '@tollgate/domain/stored-usage/query-stored-usage'
import { createLogger } from '@tollgate/platform/observability/logger'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { readSinkNote } from '@tollgate/schemas/sink-note'
import { usageTopic } from '@tollgate/schemas/topics'
import { StoreCheck } from '../src/consume/store-check.ts'
import { untracedBatches } from '../src/consume/trace-batches.ts'
import { createLogAndStore, type LogAndStore } from './log-and-store.ts'
import { encoded, meterEvent } from './meter-event.ts'
import { TotalledPartition } from './totalled-partition.ts'

const topic = usageTopic('sandbox')
const startMs = Date.UTC(2026, 2, 31, 23)
const rangeRecords = 4
const window = { fromSecond: startMs / 1000 + 60, toSecond: startMs / 1000 + 90_000 }

let logAndStore: LogAndStore

beforeAll(async () => {
  logAndStore = await createLogAndStore(100)
})

afterAll(() => logAndStore.remove())

function eventAt(partition: number, offset: number) {
  return meterEvent({
    id: `usage_${partition}_${offset}`,
    providerId: `prv_${partition}`,
    value: 1_000_000 * (offset + 1),
    timestamp: startMs + offset * 1_800_000,
  })
}

/** Returns a partition with this many stored records. */
async function partitionWith(records: number): Promise<TotalledPartition> {
  const at = new TotalledPartition(logAndStore, rangeRecords)
  await store(at, 0, records)
  await at.moveTo(records)
  return at
}

async function store(at: TotalledPartition, from: number, to: number): Promise<void> {
  const offsets = Array.from({ length: to - from }, (_, index) => from + index)
  await at.insert(offsets.map((offset) => ({ offset, event: eventAt(at.partition, offset) })))
}

function sum({ store, partition }: TotalledPartition, part: StoredPart): Promise<bigint[]> {
  const query = {
    environment: 'sandbox',
    providerId: `prv_${partition}`,
    customerRefs: ['cus_1'],
    productRef: 'prd_a',
    meterName: 'requests',
  } as const
  return sumStoredUsageByWindow(store, query, [window], [part])
}

/** Expects the sum of the rows up to the offset, with or without totals. */
async function expectSumOfRows(at: TotalledPartition, beforeOffset: number): Promise<void> {
  const ofRows = await sum(at, await at.part(beforeOffset, false))
  expect(await sum(at, await at.part(beforeOffset))).toEqual(ofRows)
  expect(ofRows[0]).toBeGreaterThan(0n)
}

/** Returns the start and the number of versions of each range that has totals. */
async function totalledFrom({ store, partition }: TotalledPartition): Promise<string[]> {
  const rows = await store.query<{ start: string; total: string }>(
    `SELECT toString(from_offset) AS start, toString(uniqExact(version)) AS total
     FROM sandbox.usage_totals_ranges
     WHERE log_partition = ${partition} AND state = 'valid' AND version NOT IN (
       SELECT version FROM sandbox.usage_totals_ranges WHERE state = 'dropped')
     GROUP BY from_offset ORDER BY from_offset`,
  )
  return rows.map(({ start, total }) => `${start}: ${total}`)
}

/** One more than the calls to the log and to ClickHouse that a step makes. */
const callsOfStep = 12

describe('a step that makes totals', () => {
  it('leaves nothing that readers use if its process dies at any call, and the next process completes it', async () => {
    const died: number[] = []
    for (let atCall = 1; atCall <= callsOfStep; atCall += 1) {
      const at = await partitionWith(5)
      if ((await at.step({ atCall, kind: 'die-after' })) === 'died') died.push(atCall)
      await expectSumOfRows(at, 5)
      await at.finish()
      await expectSumOfRows(at, 5)
      expect(await totalledFrom(at)).toEqual(['0: 1'])
    }
    expect(died.length).toBe(callsOfStep - 1)
  }, 60_000)

  it('counts for nothing if records are stored again below the position while it is suspended at any call after it has begun', async () => {
    for (let atCall = 5; atCall < callsOfStep; atCall += 1) {
      const at = new TotalledPartition(logAndStore, rangeRecords)
      await store(at, 0, 2)
      await store(at, 3, 5)
      await at.moveTo(5)
      await at.step({ atCall, kind: 'others-act' }, async () => {
        await store(at, 2, 3)
        await at.moveTo(5, { generation: 'second' })
      })
      await expectSumOfRows(at, 5)
      await at.finish()
      await expectSumOfRows(at, 5)
    }
  }, 60_000)

  it('may be made by two processes at once', async () => {
    const at = await partitionWith(5)
    await Promise.all([at.step(), at.step(), at.step()])
    await expectSumOfRows(at, 5)
    await at.finish()
    await expectSumOfRows(at, 5)
  })
})

describe('totals', () => {
  it('are made of the newest records first, once the sink of this release has named the stored rows', async () => {
    const at = await partitionWith(13)
    await at.moveTo(13, { generation: undefined })
    expect(await at.finish()).toBe(0)
    await at.moveTo(13)
    expect([await at.step(), await at.step()]).toEqual(['totalled', 'totalled'])
    expect(await totalledFrom(at)).toEqual(['4: 1', '8: 1'])
    await expectSumOfRows(at, 13)
    expect(await at.finish()).toBe(1)
    // Readers now read the totals: the rows below are no longer needed, except those of the hour that the window cuts.
    const before = await sum(at, await at.part(13))
    await at.store.command(
      `DELETE FROM sandbox.usage_records WHERE log_partition = ${at.partition} AND log_offset BETWEEN 2 AND 11`,
    )
    expect(await sum(at, await at.part(13))).toEqual(before)
  })

  it('are read again after a restart of ClickHouse only if none of their rows are lost', async () => {
    const at = await partitionWith(9)
    await at.finish()
    const [row] = await at.store.query<{ version: string }>(
      `SELECT toString(version) AS version FROM sandbox.usage_totals_ranges
       WHERE log_partition = ${at.partition} AND from_offset = 4 AND state = 'valid'`,
    )
    await at.store.command(
      `DELETE FROM sandbox.usage_totals WHERE version = ${row!.version} AND toHour(hour) = 1`,
    )
    await at.store.command('TRUNCATE TABLE sandbox.store_life')
    await at.moveTo(9)
    await expectSumOfRows(at, 9)
    expect(await at.step()).toBe('verified')
    expect(await totalledFrom(at)).toEqual(['0: 1'])
    await expectSumOfRows(at, 9)
    expect(await at.finish()).toBe(1)
    await expectSumOfRows(at, 9)
  })

  it('are dropped within a day if their rows are lost while ClickHouse runs', async () => {
    const at = await partitionWith(9)
    await at.finish()
    await at.store.command(
      `DELETE FROM sandbox.usage_totals WHERE log_partition = ${at.partition} AND from_offset = 4`,
    )
    expect(await at.step()).toBe('complete')
    at.isVerifyDue = true
    expect(await at.step()).toBe('dropped')
    expect(await totalledFrom(at)).toEqual(['0: 1'])
    await expectSumOfRows(at, 9)
    expect(await at.finish()).toBe(1)
    await expectSumOfRows(at, 9)
  })

  it('are made of records of more than 100 months', async () => {
    const months = 110
    const at = new TotalledPartition(logAndStore, months)
    const timestamp = (offset: number) => Date.UTC(2012, offset)
    await at.insert(
      Array.from({ length: months }, (_, offset) => ({
        offset,
        event: { ...eventAt(at.partition, offset), timestamp: timestamp(offset) },
      })),
    )
    await at.moveTo(months)
    expect(await at.finish()).toBe(1)
  })

  it('beyond the position are dropped, because other records may follow a restored position', async () => {
    const at = await partitionWith(9)
    await at.finish()
    await at.moveTo(5)
    expect(await at.step()).toBe('dropped')
    expect(await at.step()).toBe('complete')
    await at.moveTo(9)
    expect(await totalledFrom(at)).toEqual(['0: 1'])
    expect(await at.finish()).toBe(1)
    await expectSumOfRows(at, 9)
  })

  it('of a generation that ended are dropped, and their rows are deleted an hour later', async () => {
    const at = await partitionWith(4)
    await at.finish()
    await at.moveTo(4, { generation: 'second' })
    expect(await at.step()).toBe('dropped')
    expect(await at.finish()).toBe(1)
    await at.store.command(
      `ALTER TABLE sandbox.usage_totals_ranges UPDATE at = at - INTERVAL 2 HOUR
       WHERE log_partition = ${at.partition} SETTINGS mutations_sync = 1`,
    )
    await at.finish()
    const [left] = await at.store.query<{ versions: string }>(
      `SELECT toString(uniqExact(version)) AS versions FROM sandbox.usage_totals
       WHERE log_partition = ${at.partition}`,
    )
    expect(left).toEqual({ versions: '1' })
    await expectSumOfRows(at, 4)
  })

  it('beyond a position that was restored from an older copy are not used again', async () => {
    const at = await partitionWith(9)
    const { log, clickhouse } = logAndStore
    const values = Array.from({ length: 9 }, (_, offset) => encoded(eventAt(at.partition, offset)))
    const records = values.map((value) => ({ partition: at.partition, value }))
    await log.appendAll(topic, records, startMs)
    await at.finish()
    const generationAfterCheck = async (): Promise<string | undefined> => {
      const parts = {
        log,
        usageStore: clickhouse.store,
        cluster: undefined,
        environment: 'sandbox' as const,
        topic,
        partition: at.partition,
        readLimits: { recordsMax: 1_000, bytesMax: 1 << 20 },
        traceBatch: untracedBatches,
        countersWaitMs: 0,
        newLineage: () => 'new',
        hotState: undefined as never,
      }
      const check = new StoreCheck(parts, createLogger('test', 'silent'))
      const position = await log.position(sinkGroup, topic, at.partition)
      return readSinkNote((await check.check(position, true)).position.note)?.generation
    }
    expect(await generationAfterCheck()).toBe('first')
    await at.moveTo(6)
    expect(await generationAfterCheck()).toBe('new')
  })
})
