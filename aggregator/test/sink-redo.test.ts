import { afterEach, beforeEach, expect, it } from 'vitest'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { readSinkNote, writeSinkNote } from '@tollgate/schemas/sink-note'
import { usageTopic } from '@tollgate/schemas/topics'
import { runSinkBatch } from '../src/consume/run-sink-batch.ts'
import type { SinkParts } from '../src/consume/sink-parts.ts'
import { untracedBatches } from '../src/consume/trace-batches.ts'
import { ExpectedUsage, readStored } from './expected-usage.ts'
import { EventGenerator } from './generated-events.ts'
import { createInstallation, partitionOfEvent, type Installation } from './installation.ts'
import { interrupted, ProcessDied, type Interruption } from './interrupted.ts'

const topic = usageTopic('sandbox')
const nothingElse = async (): Promise<void> => {}

let installation: Installation

beforeEach(async () => {
  installation = await createInstallation({ segmentBytesMax: 1 })
})

afterEach(async () => {
  await installation.remove()
})

/** Runs one batch of partition 0 in a new process. The order of its calls: read, commit the open note, ..., insert, commit. */
async function storeBatch(
  interruption?: Interruption,
  others = nothingElse,
  cluster?: string,
): Promise<string> {
  const { log, hotState, clickhouse } = installation
  const counter = { calls: 0 }
  const parts: SinkParts = {
    log: interrupted(log, counter, interruption, others),
    hotState,
    usageStore: interrupted<UsageStore>(
      cluster === undefined ? clickhouse.store : withoutReplicas(clickhouse.store),
      counter,
      interruption,
      others,
    ),
    environment: 'sandbox',
    topic,
    partition: 0,
    readLimits: { recordsMax: 1_000, bytesMax: 1 << 24 },
    traceBatch: untracedBatches,
    cluster,
    countersWaitMs: 0,
    newLineage: () => 'lineage',
  }
  return (await runSinkBatch(parts, await log.position(sinkGroup, topic, 0))).kind
}

/** There is no Keeper here, so no table has replicas to query. All else is the real store. */
function withoutReplicas(store: UsageStore): UsageStore {
  return {
    ...store,
    insert: (...input) => store.insert(...input),
    query: async <Row>(statement: string, parameters?: Readonly<Record<string, unknown>>) =>
      statement.includes("'replicas'") ? [] : await store.query<Row>(statement, parameters),
  }
}

/** Makes ClickHouse forget a token as after many later blocks, with an open batch that waited for that time. */
async function forgetToken(): Promise<void> {
  const { log } = installation
  const position = await log.position(sinkGroup, topic, 0)
  const note = readSinkNote(position.note)!
  const older = { ...note, lineage: 'forgotten', openedAtMs: Date.now() - 3_600_000 }
  const next = { offset: position.offset, note: writeSinkNote(older) }
  await log.commit(sinkGroup, topic, 0, position, next)
}

async function appendToPartition0(seed: number, total: number): Promise<ExpectedUsage> {
  const generator = new EventGenerator(seed, 20, Date.UTC(2026, 2, 1, 12))
  const events = generator.take(total).filter((event) => partitionOfEvent(event) === 0)
  const expected = new ExpectedUsage()
  expected.add(events)
  await installation.appendEvents(events)
  return expected
}

async function expectStored(expected: ExpectedUsage): Promise<void> {
  expect(await readStored(installation.clickhouse.store, 'sandbox')).toEqual({
    rowTotal: expected.storedTotal,
    idTotal: expected.idTotal,
    countedSum: expected.countedSum,
    rollUpSum: expected.countedSum,
    rollUpRecords: expected.countedTotal,
    debitedSum: expected.debitedSum,
    debitsSum: expected.debitedSum,
  })
}

const insertCall = 3
const lastCommitCall = 4

it.each([
  ['after the open note', { atCall: 2, kind: 'die-after' }],
  ['before the insert', { atCall: insertCall, kind: 'die-before' }],
  ['after the insert', { atCall: insertCall, kind: 'die-after' }],
  ['before the last commit', { atCall: lastCommitCall, kind: 'die-before' }],
] as const)('a sink that dies %s leaves a batch that is redone once', async (_, interruption) => {
  const expected = await appendToPartition0(1, 600)
  await expect(storeBatch(interruption)).rejects.toThrow(ProcessDied)
  // More records arrive. The redo must not include them in the batch.
  const generator = new EventGenerator(2, 20, Date.UTC(2026, 3, 1))
  const more = generator
    .take(300)
    .map((event) => ({ ...event, id: `more_${event.id}` }))
    .filter((event) => partitionOfEvent(event) === 0)
  expected.add(more)
  await installation.appendEvents(more)

  expect(await storeBatch()).toBe('stored')
  expect(await storeBatch()).toBe('stored')
  expect(await storeBatch()).toBe('idle')
  await expectStored(expected)
})

it.each([
  ['the last commit', { atCall: lastCommitCall, kind: 'die-before' }],
  ['the insert', { atCall: insertCall, kind: 'die-before' }],
] as const)(
  'a cluster stores a batch and its roll-up once after the process died before %s and the token was forgotten',
  async (_, interruption) => {
    const expected = await appendToPartition0(6, 600)
    await expect(storeBatch(interruption, nothingElse, 'main')).rejects.toThrow(ProcessDied)
    await forgetToken()
    expect(await storeBatch(undefined, nothingElse, 'main')).toBe('stored')
    expect(await storeBatch(undefined, nothingElse, 'main')).toBe('idle')
    await expectStored(expected)
  },
)

it('fences a stale sink that continues after another one took over, and stores no row twice', async () => {
  const expected = await appendToPartition0(3, 600)
  const takeOver = async (): Promise<void> => {
    expect(await storeBatch()).toBe('stored')
  }
  const zombie = storeBatch({ atCall: insertCall, kind: 'others-act' }, takeOver)
  await expect(zombie).rejects.toMatchObject({ name: 'GroupFencedError' })
  await expectStored(expected)
})

it('a sink that lost its position starts at the oldest record in the log', async () => {
  const { log } = installation
  const expected = await appendToPartition0(4, 300)
  expect(await storeBatch()).toBe('stored')
  const more = new EventGenerator(5, 20, Date.UTC(2026, 3, 1))
    .take(300)
    .map((event) => ({ ...event, id: `more_${event.id}` }))
    .filter((event) => partitionOfEvent(event) === 0)
  expected.add(more)
  await installation.appendEvents(more)
  await log.trim(topic, 0, Infinity, [sinkGroup])
  const oldest = log.oldest(topic, 0)
  expect(oldest).toBeGreaterThan(0)
  const position = await log.position(sinkGroup, topic, 0)
  await log.commit(sinkGroup, topic, 0, position, { offset: 0, note: '' })

  expect(await storeBatch()).toBe('stored')
  expect(await storeBatch()).toBe('idle')
  await expectStored(expected)
})
