import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrateUsageTables } from '@tollgate/aggregator/clickhouse/migrate'
import { usageColumns } from '@tollgate/aggregator/domain/usage-rows'
import { readStoredSeries, readStoredUsage } from '@tollgate/control-plane/usage/stored-usage'
import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import { startTestUsageStore } from '@tollgate/platform/testing/embedded-servers'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { outcomes, type MeterEvent, withoutCounts } from '@tollgate/schemas/meter-event'
import { encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { firstNote, writeSinkNote } from '@tollgate/schemas/sink-note'
import { usageTopic } from '@tollgate/schemas/topics'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'

const topic = usageTopic('sandbox')
const partitionCount = 2
const second = 1_767_225_600
const window = { id: 'w', fromSecond: second, toSecond: second + 10 }
const span = { id: 's', fromSecond: second + 4, toSecond: second + 1_000_000 }
const references = ['cus_a', 'user-1']

const folder = await mkdtemp(join(tmpdir(), 'tollgate-stored-usage-'))
const eventLog = await openFileEventLog({
  logFolder: join(folder, 'log'),
  groupsFolder: join(folder, 'groups'),
  role: 'writer',
  topics: { [topic]: partitionCount },
  // There is one segment per append, so that a trim leaves only the last one.
  segmentBytesMax: 1,
})
const clickhouse = await startTestUsageStore()
await migrateUsageTables(clickhouse.connection)
// Merges are stopped, so that duplicate rows of a key are kept.
await clickhouse.store.command('SYSTEM STOP MERGES sandbox.usage_records')
afterAll(async () => {
  await eventLog.close()
  await clickhouse.stop()
  await rm(folder, { recursive: true })
})

type Shape = Pick<MeterEvent, 'customerRef' | 'meterName' | 'value' | 'productRef' | 'outcome'> & {
  readonly key: string | null
  readonly atMs: number
}

/** Records that mostly count, and all kinds that do not. */
const shapes: fc.Arbitrary<Shape> = fc.record({
  customerRef: mostly(fc.constantFrom(...references), fc.constant('other')),
  meterName: mostly(fc.constant('requests'), fc.constant('tokens')),
  value: fc.integer({ min: 1, max: 5_000_000 }),
  productRef: mostly(fc.constantFrom('prd_a', null), fc.constant('prd_b')),
  outcome: mostly(fc.constant('success' as const), fc.constantFrom(...outcomes)),
  key: fc.option(fc.constantFrom('a', 'b', 'c', 'd'), { freq: 2 }),
  atMs: mostly(fc.constantFrom(0, 4_500, 9_999), fc.constantFrom(-1, 10_000)),
})

function mostly<Usual, Rare>(usual: fc.Arbitrary<Usual>, rare: fc.Arbitrary<Rare>) {
  return fc.oneof({ arbitrary: usual, weight: 6 }, { arbitrary: rare, weight: 1 })
}

type Case = {
  /** Records from another installation, which had its own log. */
  readonly moved: readonly Shape[]
  readonly recorded: readonly Shape[]
  /** Progress of the sink in each partition, in thousandths of the records. */
  readonly sinks: readonly {
    readonly stored: number
    /** Additional rows already stored by a batch in progress. */
    readonly begun: number
    /** Whether the sink was further before and lost its position. */
    readonly isLost: boolean
    /** Whether its rows were stored twice. */
    readonly isDoubled: boolean
  }[]
}

const cases: fc.Arbitrary<Case> = fc.record({
  moved: fc.array(shapes, { maxLength: 4 }),
  recorded: fc.array(shapes, { maxLength: 30 }),
  sinks: fc.array(
    fc.record({
      stored: fc.nat(1000),
      begun: fc.nat(1000),
      isLost: fc.constantFrom(false, false, true),
      isDoubled: fc.boolean(),
    }),
    { minLength: partitionCount, maxLength: partitionCount },
  ),
})

function eventOf(providerId: string, shape: Shape): MeterEvent {
  const { key, atMs, ...fields } = shape
  const timestamp = second * 1000 + atMs
  return {
    ...fields,
    id: `usage_${key === null ? randomUUID() : `${providerId}_${fields.customerRef}_${key}`}`,
    providerId,
    timestamp,
    receivedAt: timestamp,
    purchaseRef: null,
    source: 'usages',
    idempotencyKey: key,
    properties: '{}',
    reservationId: null,
    traceParent: null,
    debit: null,
    ...withoutCounts,
  }
}

function placeOf({ providerId, customerRef }: MeterEvent): number {
  return partitionOf(subjectKey(providerId, customerRef), partitionCount)
}

/** Returns the counted amount by processing the records one by one. A key counts only at its first use. */
function countOneByOne(
  events: readonly MeterEvent[],
  meterName = 'requests',
  { fromSecond, toSecond } = window,
): bigint {
  const used = new Set<string>()
  let micros = 0n
  for (const event of events) {
    if (used.has(event.id)) continue
    used.add(event.id)
    const isCounted =
      references.includes(event.customerRef) &&
      event.meterName === meterName &&
      event.outcome === 'success' &&
      event.productRef !== 'prd_b' &&
      event.timestamp >= fromSecond * 1000 &&
      event.timestamp < toSecond * 1000
    if (isCounted) micros += BigInt(event.value)
  }
  return micros
}

const begunNote = writeSinkNote(firstNote('lineage'))

type Row = { readonly offset: number; readonly event: MeterEvent }

async function store(partition: number, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return
  const table = 'sandbox.usage_records'
  await clickhouse.store.insert(table, usageColumns(partition), rows, randomUUID())
}

async function setPosition(partition: number, offset: number, note: string): Promise<void> {
  const before = await eventLog.position(sinkGroup, topic, partition)
  await eventLog.commit(sinkGroup, topic, partition, before, { offset, note })
}

async function record(events: readonly MeterEvent[]): Promise<Row[]> {
  const records = events.map((event) => {
    const buffer = Buffer.alloc(2_000)
    const value = buffer.subarray(0, encodeMeterEvent(event, buffer, 0))
    return { partition: placeOf(event), value }
  })
  const offsets = await eventLog.appendAll(topic, records, 0)
  return events.map((event, index) => ({ event, offset: offsets[index]! }))
}

/** Stores the sink's rows of a partition, and sets its position. */
async function sink(
  partition: number,
  rows: readonly Row[],
  { stored: share, begun, isLost, isDoubled }: Case['sinks'][number],
  used: Set<string>,
): Promise<void> {
  const end = Math.floor((rows.length * share) / 1000)
  const begunEnd = end + Math.floor(((rows.length - end) * begun) / 1000)
  const stored = rows.slice(0, end).filter(({ event }) => {
    const isFirst = !used.has(event.id)
    used.add(event.id)
    return isFirst
  })
  // Beyond the position, a key may be stored again, because its deduplication mark had expired. For those records, only the log
  // decides.
  for (const each of [stored, rows.slice(end, begunEnd)]) {
    await store(partition, each)
    if (isDoubled) await store(partition, each)
  }
  const head = await eventLog.head(topic, partition)
  if (isLost) await setPosition(partition, 0, '')
  else await setPosition(partition, rows[end]?.offset ?? head, begunNote)
}

async function read(providerId: string, tailRecordsMax = 1_000_000): Promise<bigint> {
  const amounts = await readStoredUsage(
    { eventLog, usageStore: clickhouse.store },
    {
      environment: 'sandbox',
      providerId,
      customerRefs: references,
      productRef: 'prd_a',
      meterName: 'requests',
      windows: [window],
      tailRecordsMax,
    },
  )
  return amounts.get(window.id)!
}

const sumOfUsage = /SELECT \[/

/** Reads both meters in the window and in a span that begins within it and has no end. */
async function readAll(providerId: string) {
  const queries: string[] = []
  const usageStore = {
    query: <R>(sql: string, params?: Record<string, unknown>): Promise<R[]> => {
      queries.push(sql)
      return clickhouse.store.query<R>(sql, params)
    },
  }
  const asked = ['requests', 'tokens'].flatMap((meterName) =>
    [window, span].map((each) => ({ meterName, windows: [each] })),
  )
  const query = { environment: 'sandbox', providerId, customerRefs: references } as const
  const amounts = await readStoredSeries(
    { eventLog, usageStore },
    { ...query, productRef: 'prd_a', series: asked, tailRecordsMax: 1_000_000 },
  )
  expect(queries.filter((sql) => sumOfUsage.test(sql))).toHaveLength(1)
  return amounts.map((each, index) => each.get(asked[index]!.windows[0]!.id))
}

test('counts every acknowledged unit once from ClickHouse and the rest of the log, at any sink position', async () => {
  const property = fc.asyncProperty(cases, async ({ moved, recorded, sinks }) => {
    const providerId = `prv_${randomUUID()}`
    const movedEvents = moved.map((shape) => eventOf(providerId, shape))
    const events = recorded.map((shape) => eventOf(providerId, shape))
    const used = new Set<string>()
    const movedOnce = movedEvents.filter(({ id }) => !used.has(id) && used.add(id))
    const rows = await record(events)
    for (const [partition, each] of sinks.entries()) {
      const ofIt = movedOnce.filter((event) => placeOf(event) === partition)
      await store(
        partition,
        ofIt.map((event) => ({ event, offset: offsetOfNoLog })),
      )
      const written = rows.filter(({ event }) => placeOf(event) === partition)
      await sink(partition, written, each, used)
    }
    const all = [...movedEvents, ...events]
    expect(await read(providerId)).toBe(countOneByOne(all))
    expect(await readAll(providerId)).toEqual(
      ['requests', 'tokens'].flatMap((meterName) =>
        [window, span].map((each) => countOneByOne(all, meterName, each)),
      ),
    )
  })
  await fc.assert(property, randomRuns(40))
}, 120_000)

test('refuses to estimate usage that is missing from ClickHouse and the log, or too large to read', async () => {
  const providerId = `prv_${randomUUID()}`
  const shape = {
    customerRef: 'cus_a',
    meterName: 'requests',
    value: 1,
    productRef: null,
    outcome: 'success',
    key: null,
    atMs: 0,
  } as const
  const [first] = await record([eventOf(providerId, shape)])
  for (let more = 0; more < 2; more += 1) await record([eventOf(providerId, shape)])
  const partition = placeOf(first!.event)
  const other = 1 - partition
  await setPosition(other, await eventLog.head(topic, other), begunNote)
  await setPosition(partition, first!.offset, begunNote)
  expect(await read(providerId, 3)).toBe(3n)
  await expect(read(providerId, 2)).rejects.toBeInstanceOf(UsageBehindError)
  for (const each of [other, partition]) await eventLog.trim(topic, each, Infinity, [])
  expect(await eventLog.oldest(topic, partition)).toBeGreaterThan(first!.offset)
  await expect(read(providerId)).rejects.toBeInstanceOf(UsageBehindError)
  await setPosition(partition, (await eventLog.head(topic, partition)) + 1, begunNote)
  await expect(read(providerId)).rejects.toBeInstanceOf(UsageBehindError)
})
