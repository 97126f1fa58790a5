import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import fc from 'fast-check'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { outcomes, type MeterEvent } from '@tollgate/schemas/meter-event'
import { readSinkNote } from '@tollgate/schemas/sink-note'
import { usageTopic } from '@tollgate/schemas/topics'
import { runSinkBatch } from '../src/consume/run-sink-batch.ts'
import { untracedBatches } from '../src/consume/trace-batches.ts'
import { interrupted, ProcessDied, type Interruption } from './interrupted.ts'
import { expectedConsoleRollUps, readConsoleRollUps, unitsOf } from './console-roll-ups.ts'
import { createLogAndStore, type LogAndStore } from './log-and-store.ts'
import { encoded, meterEvent } from './meter-event.ts'
import {
  damageParts,
  emptyTables,
  keepPartsApart,
  listParts,
  tables,
  type Damage,
  type Part,
} from './parts-on-disk.ts'

/*
 * A single ClickHouse server that is killed between the token of a block and its rows has only one of them. These tests produce
 * that state in the files of the real engine, and then the sink repeats its batch.
 */

const topic = usageTopic('sandbox')
const nothingElse = async (): Promise<void> => {}
const hourMs = 3_600_000
/** The last hour of a month, so that batches reach into the next month. */
const startMs = Date.UTC(2026, 2, 31, 23)

let logAndStore: LogAndStore
let hotState: HotState

beforeAll(async () => {
  logAndStore = await createLogAndStore(2_000)
  hotState = await openLmdbHotState({ folder: join(logAndStore.folder, 'hot'), role: 'projection' })
  await keepPartsApart(logAndStore.clickhouse.store)
})

afterAll(async () => {
  await hotState.close()
  await logAndStore.remove()
})

type Use = Pick<MeterEvent, 'value' | 'outcome' | 'productRef' | 'debit'> & {
  readonly customer: number
  readonly hour: number
  readonly model: string
}

/** The way in which a process dies. */
type Death = {
  readonly interruption?: Interruption
  /** The process dies when the whole batch is stored. */
  readonly neverCloses?: boolean
  /** The process dies at an insert whose table and token match. The insert reaches ClickHouse later. */
  readonly neverInserts?: RegExp
}

/** One partition with its own customers: a batch that is stored, and a later one that is not. */
class Run {
  readonly #partition = logAndStore.newPartition()
  readonly #events: MeterEvent[] = []
  #unreadableTotal = 0
  #before = new Set<string>()
  /** Inserts that ClickHouse received since it last died and may still execute. */
  #received: (() => Promise<void>)[] = []

  async begin(stored: readonly Use[], waiting: readonly Use[]): Promise<void> {
    await emptyTables(logAndStore.clickhouse.store)
    await this.#append(stored)
    expect(await this.store()).toBe('stored')
    this.#before = new Set((await this.#parts()).map(nameOf))
    this.#received = []
    await this.#append(waiting)
  }

  async #append(uses: readonly Use[]): Promise<void> {
    const events = uses.map(({ customer, hour, model, ...use }, index) =>
      meterEvent({
        ...use,
        id: `usage_${this.#partition}_${this.#events.length + index}`,
        customerRef: `cus_${this.#partition}_${customer}`,
        timestamp: startMs + hour * hourMs,
        dimensions: model === '' ? {} : { model },
      }),
    )
    this.#events.push(...events)
    this.#unreadableTotal += 1
    const values = [...events.map(encoded), Buffer.from(`unreadable ${this.#unreadableTotal}`)]
    const records = values.map((value) => ({ partition: this.#partition, value }))
    await logAndStore.log.appendAll(topic, records, startMs)
  }

  /** Runs one batch in a new process. */
  async store({ interruption, neverCloses = false, neverInserts }: Death = {}): Promise<string> {
    const counter = { calls: 0 }
    const { log: all, clickhouse } = logAndStore
    const log = neverCloses ? neverClosing(all) : all
    const port = <Port extends object>(real: Port): Port =>
      interrupted(real, counter, interruption, nothingElse)
    const parts = {
      log: port(log),
      hotState,
      usageStore: this.#listening(port(clickhouse.store), neverInserts),
      cluster: undefined,
      environment: 'sandbox' as const,
      topic,
      partition: this.#partition,
      readLimits: { recordsMax: 1_000, bytesMax: 1 << 20 },
      traceBatch: untracedBatches,
      countersWaitMs: 0,
      newLineage: () => `lineage-${this.#partition}`,
    }
    const position = await log.position(sinkGroup, topic, this.#partition)
    try {
      return (await runSinkBatch(parts, position)).kind
    } catch (error) {
      if (error instanceof ProcessDied) return 'died'
      throw error
    }
  }

  #listening(store: UsageStore, neverInserts: RegExp | undefined): UsageStore {
    return {
      ...store,
      query: (statement, parameters) => store.query(statement, parameters),
      insert: async (...parameters) => {
        this.#received.push(() => logAndStore.clickhouse.store.insert(...parameters))
        if (neverInserts?.test(`${parameters[0]} ${parameters[3]}`) === true)
          throw new ProcessDied()
        await store.insert(...parameters)
      },
    }
  }

  /** Returns whether the waiting batch is open, so that it is not known to be stored. */
  async isOpen(): Promise<boolean> {
    const { note } = await logAndStore.log.position(sinkGroup, topic, this.#partition)
    return readSinkNote(note)?.state === 'open'
  }

  /**
   * Applies the damages to the blocks of the waiting batch in turn, and starts again with the first one if there are more blocks.
   */
  async damage(damages: readonly Damage[]): Promise<void> {
    const parts = (await this.#parts()).filter((part) => !this.#before.has(nameOf(part)))
    const damaged = parts.map((part, at) => [part, damages[at % damages.length]!] as const)
    this.#received = []
    await damageParts(logAndStore.clickhouse.store, damaged)
  }

  /** Applies one damage to all blocks in one table. */
  async damageTable(table: string, damage: Damage): Promise<void> {
    const parts = (await this.#parts()).filter((part) => !this.#before.has(nameOf(part)))
    const of = parts.filter((part) => part.table === table)
    expect(of.length).toBeGreaterThan(0)
    this.#received = []
    const forgotten = await damageParts(
      logAndStore.clickhouse.store,
      of.map((part) => [part, damage] as const),
    )
    expect(forgotten).toBe(damage === 'lost' ? 0 : of.length)
  }

  async #parts(): Promise<Part[]> {
    return await listParts(logAndStore.clickhouse.store)
  }

  /** Executes inserts that timed out at the sink. */
  async executeTimedOutInserts(): Promise<void> {
    for (const insert of this.#received) await insert()
  }

  async expectStoredOnce(): Promise<void> {
    expect(await this.#stored()).toEqual(this.#expected())
  }

  async #stored(): Promise<unknown> {
    const { store } = logAndStore.clickhouse
    const parameters = { partition: this.#partition, customers: `cus_${this.#partition}_%` }
    const [records] = await store.query(
      `SELECT groupArray(id) AS ids, groupArray(toString(value)) AS amounts FROM
         (SELECT * FROM sandbox.usage_records FINAL WHERE log_partition = {partition:UInt32} ORDER BY log_offset)`,
      parameters,
    )
    const hours = await store.query<{ hour: string }>(
      `SELECT concat(customer_ref, ' ', product_ref, ' ', toString(toUnixTimestamp(hour))) AS hour,
         toString(sum(value)) AS used, toString(sum(records)) AS uses
       FROM sandbox.usage_by_hour WHERE customer_ref LIKE {customers:String}
       GROUP BY customer_ref, product_ref, hour HAVING used != '0' OR uses != '0' ORDER BY hour`,
      parameters,
    )
    const debits = await store.query(
      `SELECT id, toString(debit) AS debit FROM sandbox.credit_debits FINAL
       WHERE log_partition = {partition:UInt32} ORDER BY log_offset`,
      parameters,
    )
    const [unreadable] = await store.query<{ total: string }>(
      `SELECT count() AS total FROM sandbox.unreadable_records FINAL WHERE log_partition = {partition:UInt32}`,
      parameters,
    )
    return {
      records,
      hours: new Set(hours.map((each) => JSON.stringify(each))),
      ...(await readConsoleRollUps(store, parameters)),
      debits,
      unreadable,
    }
  }

  /** Computes the expected result in the simplest way. */
  #expected(): unknown {
    const hours = new Map<string, { used: bigint; uses: number }>()
    for (const { customerRef, productRef, timestamp, value, outcome } of this.#events) {
      if (outcome !== 'success') continue
      const hour = `${customerRef} ${productRef ?? ''} ${timestamp / 1000}`
      const { used, uses } = hours.get(hour) ?? { used: 0n, uses: 0 }
      hours.set(hour, { used: used + BigInt(value), uses: uses + 1 })
    }
    return {
      ...expectedConsoleRollUps(this.#events),
      records: {
        ids: this.#events.map(({ id }) => id),
        amounts: this.#events.map(({ value }) => unitsOf(BigInt(value))),
      },
      hours: new Set(
        [...hours].map(([hour, { used, uses }]) =>
          JSON.stringify({ hour, used: unitsOf(used), uses: String(uses) }),
        ),
      ),
      debits: this.#events.flatMap(({ id, debit }) =>
        debit === null ? [] : [{ id, debit: unitsOf(BigInt(debit)) }],
      ),
      unreadable: { total: String(this.#unreadableTotal) },
    }
  }
}

/** Returns a log at which a process dies when a batch is stored completely. */
function neverClosing(log: EventLog): EventLog {
  return new Proxy(log, {
    get(target, name) {
      if (name === 'commit') {
        return async (...input: Parameters<EventLog['commit']>) => {
          if (readSinkNote(input[4].note)?.state !== 'open') throw new ProcessDied()
          await log.commit(...input)
        }
      }
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
}

function nameOf({ table, name }: Part): string {
  return `${table} ${name}`
}

const use: fc.Arbitrary<Use> = fc.record({
  value: fc.integer({ min: 1, max: 9_000_000_000 }).map((units) => units * 1_000_000),
  outcome: fc.constantFrom('success', ...outcomes),
  productRef: fc.constantFrom(null, 'prd_1'),
  debit: fc.option(fc.bigInt({ min: 1n, max: 10n ** 12n }).map((units) => `${units}000000`)),
  customer: fc.nat(2),
  hour: fc.nat(2),
  model: fc.constantFrom('', 'small', 'large'),
})

const anOrdinaryBatch: readonly Use[] = [
  {
    value: 2e6,
    outcome: 'success',
    productRef: 'prd_1',
    debit: '7000000',
    customer: 0,
    hour: 0,
    model: 'small',
  },
  {
    value: 3e6,
    outcome: 'success',
    productRef: null,
    debit: null,
    customer: 0,
    hour: 1,
    model: '',
  },
  {
    value: 5e6,
    outcome: 'paywall',
    productRef: null,
    debit: null,
    customer: 1,
    hour: 0,
    model: 'small',
  },
]

it.each(
  tables.flatMap((table) =>
    (['lost', 'forgotten', 'absent'] as const).map((damage) => [table, damage] as const),
  ),
)('a batch whose block in %s is %s is complete after a redo', async (table, damage) => {
  const run = new Run()
  await run.begin(anOrdinaryBatch, anOrdinaryBatch)
  expect(await run.store({ neverCloses: true })).toBe('died')
  await run.damageTable(table, damage)
  expect(await run.store()).toBe('stored')
  await run.expectStoredOnce()
})

it.each(tables)('a redo stores rows of %s again, however often they are lost', async (table) => {
  const run = new Run()
  await run.begin(anOrdinaryBatch, anOrdinaryBatch)
  for (let death = 0; death < 3; death += 1) {
    expect(await run.store({ neverCloses: true })).toBe('died')
    await run.damageTable(table, 'lost')
  }
  expect(await run.store()).toBe('stored')
  await run.expectStoredOnce()
})

it.each([
  ['that stores the batch again', 'credit_debits', /usage_records .*-again-1$/],
  ['that corrects the roll-up', 'usage_by_hour', /-correction-0-/],
  ['that corrects the roll-up', 'usage_by_purchase', /-correction-0-/],
  ['that corrects the roll-up', 'usage_by_dimension', /-correction-0-/],
  ['that corrects the roll-up', 'usage_by_meter', /-correction-0-/],
  ['that corrects the roll-up', 'usage_by_day', /-correction-0-/],
] as const)(
  'an insert %s in %s and times out adds nothing when it is executed later',
  async (_, table, neverInserts) => {
    const run = new Run()
    await run.begin(anOrdinaryBatch, anOrdinaryBatch)
    expect(await run.store({ neverCloses: true })).toBe('died')
    await run.damageTable(table, 'lost')
    expect(await run.store({ neverInserts })).toBe('died')
    expect(await run.store()).toBe('stored')
    await run.executeTimedOutInserts()
    await run.expectStoredOnce()
  },
)

const aDamage = fc.constantFrom<Damage>('none', 'lost', 'forgotten', 'absent')
/** The damage between two redos, and where the second one dies. */
const aTry = fc.record({
  /** The damages are undefined if ClickHouse survives and executes the inserts that it received. */
  damages: fc.option(fc.array(aDamage, { minLength: 1, maxLength: 6 }), { nil: undefined }),
  interruption: fc.record({
    atCall: fc.integer({ min: 1, max: 24 }),
    kind: fc.constantFrom('die-before' as const, 'die-after' as const),
  }),
})

it('leaves everything as if stored once, whichever blocks are lost or duplicated, however often', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(use, { minLength: 1, maxLength: 6 }),
      fc.array(use, { minLength: 1, maxLength: 8 }),
      fc.array(aTry, { minLength: 1, maxLength: 3 }),
      async (stored, waiting, tries) => {
        const run = new Run()
        await run.begin(stored, waiting)
        await run.store({ neverCloses: true })
        for (const { damages, interruption } of tries) {
          if (!(await run.isOpen())) break
          if (damages !== undefined) await run.damage(damages)
          await run.store({ interruption })
        }
        await run.store()
        expect(await run.isOpen()).toBe(false)
        await run.expectStoredOnce()
        await run.executeTimedOutInserts()
        await run.expectStoredOnce()
      },
    ),
    { numRuns: 15, interruptAfterTimeLimit: 60_000, endOnFailure: true },
  )
}, 180_000)
