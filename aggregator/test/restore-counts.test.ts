import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '@tollgate/platform/clock/clock'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { createLogger } from '@tollgate/platform/observability/logger'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import {
  startTestUsageStore,
  type TestUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { outcomes, type MeterEvent } from '@tollgate/schemas/meter-event'
import { subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'
import { createCountersProjection } from '../src/consume/counters-projection.ts'
import type { Projection } from '../src/consume/projection-loop.ts'
import { createProjectionMetrics } from '../src/consume/projection-metrics.ts'
import { runSinkBatch } from '../src/consume/run-sink-batch.ts'
import { untracedBatches } from '../src/consume/trace-batches.ts'
import { firstNote, writeSinkNote } from '../src/domain/sink-note.ts'
import { usageColumns } from '../src/domain/usage-rows.ts'
import {
  customers,
  expectedOf,
  places,
  products,
  providers,
  start,
  windows,
} from './expected-windows.ts'
import { emptyUsageTables } from './installation.ts'
import { encoded, meterEvent } from './meter-event.ts'

const topic = usageTopic('sandbox')
const day = 86_400
const meters = ['requests', 'tokens']
const forEver = 1e15

let folder: string
let log: EventLog
let clickhouse: TestUsageStore
let runs = 0
let onceTotal = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-restore-'))
  log = await openFileEventLog({
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role: 'writer',
    // One for every run, and for every step of the search for a smaller counter-example.
    topics: { [topic]: 1_000 },
  })
  clickhouse = await startTestUsageStore()
  await emptyUsageTables(clickhouse)
})

afterAll(async () => {
  await log.close()
  await clickhouse.stop()
  await rm(folder, { recursive: true, force: true })
})

const event = fc
  .record({
    number: fc.nat(10_000),
    isKeyed: fc.boolean(),
    providerId: fc.constantFrom(...providers),
    customerRef: fc.constantFrom(...customers),
    productRef: fc.constantFrom(null, ...products),
    meterName: fc.constantFrom(...meters),
    value: fc.integer({ min: -9_000_000, max: 2 ** 52 }),
    second: fc.integer({ min: start - day, max: start + 10 * day }),
    outcome: fc.constantFrom(...outcomes),
  })
  .map(({ number, isKeyed, second, ...fields }) => {
    // A key may come again with another body, as clients do: the first one counts.
    const id = isKeyed ? idOf('keyed', number % 40) : idOf('once', onceTotal++)
    return meterEvent({
      ...fields,
      id,
      idempotencyKey: isKeyed ? `key-${number % 40}` : null,
      timestamp: second * 1000 + (number % 1000),
    })
  })

function idOf(kind: string, number: number): string {
  return `usage_${`${kind}_${number}`.padStart(26, '0')}`
}

type Act =
  | { readonly kind: 'append'; readonly events: readonly MeterEvent[] }
  | { readonly kind: 'count' | 'store' | 'lose-hot-state' | 'restart-counters' }
  | { readonly kind: 'publish'; readonly place: number }

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      events: fc.array(event, { minLength: 1, maxLength: 12 }),
    }),
  },
  { weight: 10, arbitrary: fc.constant<Act>({ kind: 'count' }) },
  { weight: 6, arbitrary: fc.constant<Act>({ kind: 'store' }) },
  { weight: 1, arbitrary: fc.constant<Act>({ kind: 'lose-hot-state' }) },
  { weight: 1, arbitrary: fc.constant<Act>({ kind: 'restart-counters' }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('publish' as const), place: fc.nat(11) }),
  },
)

/** One history of one partition, on a real log, hot state and ClickHouse. */
class History {
  readonly partition = runs++
  readonly appended: MeterEvent[] = []
  readonly metrics = createProjectionMetrics(createMetrics('test'))
  #hotState!: HotState
  #hotFolders = 0
  #counters!: Projection
  #versions = 0
  readonly #replayRecordsMax: number
  readonly #slotsMs: number
  isPublished = true

  constructor({ replayRecordsMax = 0, slotsMs = forEver } = {}) {
    this.#replayRecordsMax = replayRecordsMax
    this.#slotsMs = slotsMs
  }

  async open(): Promise<void> {
    this.#hotState = await openLmdbHotState({
      folder: join(folder, `hot-${this.partition}-${this.#hotFolders++}`),
      role: 'projection',
    })
    this.startCounters()
  }

  async close(): Promise<void> {
    await this.#hotState.close()
  }

  get hotState(): HotState {
    return this.#hotState
  }

  get #parts() {
    return {
      log,
      hotState: this.#hotState,
      usageStore: clickhouse.store,
      environment: 'sandbox' as const,
      topic,
      partition: this.partition,
      readLimits: { recordsMax: 7, bytesMax: 1 << 20 },
      traceBatch: untracedBatches,
    }
  }

  startCounters(): void {
    const retention = {
      marksMs: forEver,
      windowsMs: forEver,
      slotsMs: this.#slotsMs,
      knownSubjectSlotsMs: forEver,
      sweepKeysMax: 100,
    }
    const replayRecordsMax = this.#replayRecordsMax
    this.#counters = createCountersProjection(
      {
        ...this.#parts,
        clock: systemClock,
        retention,
        replayRecordsMax,
        isPublished: async () => this.isPublished,
      },
      this.metrics,
      createLogger('test', 'error'),
    )
  }

  async act(each: Act): Promise<void> {
    switch (each.kind) {
      case 'append':
        return await this.append(each.events)
      case 'count':
        return void (await this.count())
      case 'store':
        return void (await this.store())
      case 'publish':
        return await this.publish(each.place)
      case 'restart-counters':
        return this.startCounters()
      case 'lose-hot-state':
        await this.close()
        return await this.open()
    }
  }

  async append(events: readonly MeterEvent[]): Promise<void> {
    const records = events.map((each) => ({ partition: this.partition, value: encoded(each) }))
    await log.appendAll(topic, records, Date.now())
    this.appended.push(...events)
  }

  async count(): Promise<string> {
    return (await this.#counters.step()).kind
  }

  async store(): Promise<string> {
    const position = await log.position(sinkGroup, topic, this.partition)
    const sink = { countersWaitMs: 0, newLineage: () => `lineage-${this.partition}` }
    return (await runSinkBatch({ ...this.#parts, ...sink }, position)).kind
  }

  async publish(place: number): Promise<void> {
    const { at } = this.#address(place)
    await this.#hotState.putEntry(at, { version: ++this.#versions, document: '{}', windows })
  }

  async finish(): Promise<void> {
    while ((await this.count()) !== 'idle');
    while ((await this.store()) !== 'idle');
    for (const place of places.keys()) await this.publish(place)
  }

  /** Micros by place, meter and window. */
  async counted(): Promise<Map<string, bigint>> {
    const found = new Map<string, bigint>()
    for (const place of places.keys()) {
      for (const meterName of meters) {
        const { at } = this.#address(place)
        const { amounts } = await this.#hotState.readEntry(at, meterName)
        for (const [id, amount] of amounts) {
          if (amount !== 0n) found.set(JSON.stringify([places[place], meterName, id]), amount)
        }
      }
    }
    return found
  }

  #address(place: number) {
    const { providerId, customerRef, productRef } = places[place]!
    const subject = subjectKey(providerId, customerRef)
    return { at: { space: 'sandbox', partition: this.partition, subject, scope: productRef } }
  }
}

describe('counts that the hot state lost', () => {
  it('are what they were, whatever else happens meanwhile', async () => {
    let restores = 0
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 20, maxLength: 60 }), async (acts) => {
        const history = new History()
        await history.open()
        try {
          for (const each of acts) await history.act(each)
          await history.finish()
          expect(await history.counted()).toEqual(expectedOf(history.appended))
          // All keys are still known: what is sent again counts for nothing.
          await history.append(history.appended.filter((each) => each.idempotencyKey !== null))
          await history.finish()
          expect(await history.counted()).toEqual(expectedOf(history.appended))
          restores += await restoresOf(history)
        } finally {
          await history.close()
        }
      }),
      { numRuns: 20 },
    )
    expect(restores).toBeGreaterThan(5)
  }, 120_000)

  it('do not take in what is stored while they are made', async () => {
    const history = new History()
    await history.open()
    const everywhere = (round: number): MeterEvent[] =>
      providers.flatMap((providerId) =>
        meters.map((meterName) =>
          meterEvent({
            providerId,
            meterName,
            customerRef: 'ada',
            productRef: 'prd_a',
            id: idOf(`${providerId}_${meterName}`, round),
            timestamp: (start + 2 * day) * 1000,
          }),
        ),
      )
    await history.append(everywhere(0))
    while ((await history.store()) !== 'idle');
    await history.publish(0)
    for (let round = 1; (await restoresOf(history)) === 0; round += 1) {
      expect(await history.count()).toBe('moved')
      // The first of them belongs to what is summed up last.
      await history.append(everywhere(round).reverse())
      while ((await history.store()) !== 'idle');
    }
    await history.finish()
    expect(await history.counted()).toEqual(expectedOf(history.appended))
    await history.close()
  })

  it('are whole for many customers of whom nothing is published yet', async () => {
    const history = new History()
    await history.open()
    const many = Array.from({ length: 600 }, (_, index) =>
      meterEvent({
        id: idOf('many', index),
        customerRef: `customer-${index % 300}`,
        productRef: 'prd_a',
        value: 1 + index,
        // Twice on one day, so that no day is a single second.
        timestamp: (start + 2 * day + index) * 1000,
      }),
    )
    await history.append(many)
    while ((await history.store()) !== 'idle');
    while ((await history.count()) !== 'idle');
    expect(await restoresOf(history)).toBe(1)
    for (let index = 0; index < 300; index += 1) {
      const subject = subjectKey('prov_1', `customer-${index}`)
      const at = { space: 'sandbox', partition: history.partition, subject, scope: 'prd_a' }
      await history.hotState.putEntry(at, { version: 1, document: '{}', windows })
      const { amounts } = await history.hotState.readEntry(at, 'requests')
      expect(amounts).toEqual(new Map([['first', BigInt(302 + 2 * index)]]))
    }
    await history.close()
  })

  it('wait for windows that reach further back than slots are kept', async () => {
    const history = new History({ slotsMs: day * 1000 })
    await history.open()
    history.isPublished = false
    const old = fc.sample(event, 40).map((each) => ({ ...each, customerRef: 'ada' }))
    await history.append(old)
    while ((await history.store()) !== 'idle');
    for (let steps = 0; steps < 20; steps += 1) await history.count()
    expect(await history.count()).toBe('wait')
    for (const place of places.keys()) await history.publish(place)
    history.isPublished = true
    await history.finish()
    expect(await restoresOf(history)).toBe(1)
    expect(await history.counted()).toEqual(expectedOf(history.appended))
    await history.close()
  })

  it('are counted from a short log without asking ClickHouse', async () => {
    const history = new History({ replayRecordsMax: 100 })
    await history.open()
    await history.append(fc.sample(event, 50))
    while ((await history.count()) !== 'idle');
    while ((await history.store()) !== 'idle');
    await history.act({ kind: 'lose-hot-state' })
    await history.finish()
    expect(await history.counted()).toEqual(expectedOf(history.appended))
    expect(await restoresOf(history)).toBe(0)
    await history.close()
  })

  it('include what was moved to ClickHouse from another log', async () => {
    const history = new History()
    await history.open()
    const moved = fc.sample(event, 40).map((each, index) => ({
      ...each,
      id: idOf('moved', index),
      idempotencyKey: `moved-${index}`,
    }))
    const rows = moved.map((each) => ({ offset: offsetOfNoLog, event: each }))
    const columns = usageColumns(history.partition)
    await clickhouse.store.insert('sandbox.usage_records', columns, rows, 'moved')
    const note = writeSinkNote({ ...firstNote('lineage'), hasMovedRecords: true })
    const untouched = await log.position(sinkGroup, topic, history.partition)
    await log.commit(sinkGroup, topic, history.partition, untouched, { offset: 0, note })
    // Sent once more to the new log: their keys are known.
    await history.append([...moved.slice(0, 5), ...fc.sample(event, 20)])
    await history.finish()
    expect(await history.counted()).toEqual(expectedOf([...moved, ...history.appended]))
    await history.act({ kind: 'lose-hot-state' })
    await history.finish()
    expect(await history.counted()).toEqual(expectedOf([...moved, ...history.appended]))
    await history.close()
  })
})

async function restoresOf({ metrics }: History): Promise<number> {
  const { values } = await metrics.restores.get()
  return values.find(({ labels }) => labels.result === 'restored')?.value ?? 0
}
