import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import { outcomes, type MeterEvent } from '@tollgate/schemas/meter-event'
import { subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'
import {
  walletScope,
  walletSeries,
  walletSubject,
  walletWindow,
} from '@tollgate/schemas/hot-state/wallets'
import { firstNote, writeSinkNote } from '@tollgate/schemas/sink-note'
import { rowsOf, usageColumns } from '../src/domain/usage-rows.ts'
import {
  customers,
  expectedOf,
  places,
  products,
  providers,
  start,
  walletName,
  windows,
} from './expected-windows.ts'
import { createLogAndStore, type LogAndStore } from './log-and-store.ts'
import { meterEvent } from './meter-event.ts'
import { SteppedProjections } from './stepped-projections.ts'

const topic = usageTopic('sandbox')
const day = 86_400
const meters = ['requests', 'tokens']

let logAndStore: LogAndStore
let hotFolders = 0
let onceTotal = 0

beforeAll(async () => {
  // One partition for every run and for every step of the search for a smaller counterexample.
  logAndStore = await createLogAndStore(1_000)
})

afterAll(async () => {
  await logAndStore.remove()
})

const event = fc
  .record({
    number: fc.nat(10_000),
    isKeyed: fc.boolean(),
    providerId: fc.constantFrom(...providers),
    customerRef: fc.constantFrom(...customers),
    productRef: fc.constantFrom(null, ...products),
    meterName: fc.constantFrom(...meters, ''),
    further: fc.option(fc.integer({ min: -9_000_000, max: 2 ** 52 })),
    value: fc.integer({ min: -9_000_000, max: 2 ** 52 }),
    second: fc.integer({ min: start - day, max: start + 10 * day }),
    outcome: fc.constantFrom(...outcomes),
    debit: fc.option(fc.bigInt({ min: 1n, max: 2n ** 70n })),
  })
  .map(({ number, isKeyed, second, debit, further, ...fields }) => {
    // A key may be repeated with another body, as clients do. The first record counts.
    const id = isKeyed ? idOf('keyed', number % 40) : idOf('once', onceTotal++)
    return meterEvent({
      ...fields,
      debit: fields.outcome === 'success' && debit !== null ? debit.toString() : null,
      id,
      idempotencyKey: isKeyed ? `key-${number % 40}` : null,
      timestamp: second * 1000 + (number % 1000),
      ...(fields.meterName === '' && { value: 0 }),
      counts:
        further === null
          ? []
          : meters
              .filter((meterName) => meterName !== fields.meterName)
              .map((meterName) => ({ meterName, value: further, text: null })),
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
  readonly appended: MeterEvent[] = []
  readonly projections: SteppedProjections
  isPublished = true
  #hotState!: HotState
  /** The hot state that the projections use instead. */
  #given!: HotState
  #versions = 0

  static async begin(
    options: { replayRecordsMax?: number; slotsMs?: number } = {},
  ): Promise<History> {
    const history = new History(options)
    await history.open()
    return history
  }

  private constructor(options: { replayRecordsMax?: number; slotsMs?: number }) {
    this.projections = new SteppedProjections(logAndStore, {
      ...options,
      hotState: () => this.#given,
      isPublished: () => this.isPublished,
      recordsPerBatchMax: 7,
    })
  }

  async open(): Promise<void> {
    const folder = join(logAndStore.folder, `hot-${hotFolders++}`)
    this.#hotState = await openLmdbHotState({ folder, role: 'projection' })
    this.#given = this.#hotState
    this.projections.startCounters()
  }

  async close(): Promise<void> {
    await this.#hotState.close()
  }

  /** Makes the first attempt of each call of a restore fail, every other one after its effect. */
  failEachCallOnce(): void {
    let calls = 0
    this.#given = new Proxy(this.#hotState, {
      get: (state, name: keyof HotState) => {
        const method: unknown = Reflect.get(state, name)
        if (typeof method !== 'function') return method
        return async (...input: unknown[]) => {
          const call = /restore/i.test(name) ? calls++ : 1
          if (call % 4 === 0) throw new Error('not done')
          const answer: unknown = await Reflect.apply(method, state, input)
          if (call % 4 === 2) throw new Error('the response was lost after the effect')
          return answer
        }
      },
    })
    this.projections.startCounters()
  }

  get hotState(): HotState {
    return this.#hotState
  }

  get partition(): number {
    return this.projections.partition
  }

  async act(each: Act): Promise<void> {
    switch (each.kind) {
      case 'append':
        return await this.append(each.events)
      case 'count':
        return void (await this.projections.count())
      case 'store':
        return void (await this.projections.store())
      case 'publish':
        return await this.publish(each.place)
      case 'restart-counters':
        return this.projections.startCounters()
      case 'lose-hot-state':
        await this.close()
        return await this.open()
    }
  }

  async append(events: readonly MeterEvent[]): Promise<void> {
    await this.projections.append(events)
    this.appended.push(...events)
  }

  async publish(place: number): Promise<void> {
    const { at } = this.#address(place)
    const entry = { version: ++this.#versions, document: '{}' }
    await this.#hotState.putEntry(at, { ...entry, windows })
    await this.#hotState.putEntry(this.#walletOf(place), { ...entry, windows: [walletWindow] })
  }

  async finish(): Promise<void> {
    await this.projections.countAll()
    await this.projections.storeAll()
    for (const place of places.keys()) await this.publish(place)
  }

  /** Returns micros by place, meter and window, and the debits of wallets. */
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
      const wallet = await this.#hotState.readEntry(this.#walletOf(place), walletSeries)
      const paid = wallet.amounts.get(walletWindow.id) ?? 0n
      if (paid !== 0n) found.set(walletName(places[place]!), paid)
    }
    return found
  }

  #walletOf(place: number) {
    const { providerId, customerRef } = places[place]!
    const subject = walletSubject(providerId, customerRef)
    return { ...this.#address(place).at, subject, scope: walletScope }
  }

  #address(place: number) {
    const { providerId, customerRef, productRef } = places[place]!
    const subject = subjectKey(providerId, customerRef)
    return { at: { space: 'sandbox', partition: this.partition, subject, scope: productRef } }
  }
}

describe('counts that the hot state lost', () => {
  it('are restored, whatever else happens meanwhile', async () => {
    let restores = 0
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 20, maxLength: 60 }), async (acts) => {
        const history = await History.begin()
        try {
          for (const each of acts) await history.act(each)
          await history.finish()
          expect(await history.counted()).toEqual(expectedOf(history.appended))
          // All keys are still known, so repeated records do not count.
          await history.append(history.appended.filter((each) => each.idempotencyKey !== null))
          await history.finish()
          expect(await history.counted()).toEqual(expectedOf(history.appended))
          restores += await history.projections.restores('restored')
        } finally {
          await history.close()
        }
      }),
      { numRuns: 20 },
    )
    expect(restores).toBeGreaterThan(5)
  }, 120_000)

  it('exclude records that are stored during the restore', async () => {
    const history = await History.begin()
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
    await history.projections.storeAll()
    await history.publish(0)
    for (let round = 1; (await history.projections.restores('restored')) === 0; round += 1) {
      expect(await history.projections.count()).toBe('moved')
      // The first of these records belong to the slice that is summed last.
      await history.append(everywhere(round).reverse())
      await history.projections.storeAll()
    }
    await history.finish()
    expect(await history.counted()).toEqual(expectedOf(history.appended))
    await history.close()
  })

  it('are restored for many customers before any of them is published', async () => {
    const history = await History.begin()
    const many = Array.from({ length: 600 }, (_, index) =>
      meterEvent({
        id: idOf('many', index),
        customerRef: `customer-${index % 300}`,
        productRef: 'prd_a',
        value: 1 + index,
        // Each customer has two records on the day, so that no day is a single second.
        timestamp: (start + 2 * day + index) * 1000,
      }),
    )
    await history.append(many)
    await history.projections.storeAll()
    await history.projections.countAll()
    expect(await history.projections.restores('restored')).toBe(1)
    for (let index = 0; index < 300; index += 1) {
      const subject = subjectKey('prov_1', `customer-${index}`)
      const at = { space: 'sandbox', partition: history.partition, subject, scope: 'prd_a' }
      await history.hotState.putEntry(at, { version: 1, document: '{}', windows })
      const { amounts } = await history.hotState.readEntry(at, 'requests')
      expect(amounts).toEqual(new Map([['first', BigInt(302 + 2 * index)]]))
    }
    await history.close()
  })

  it('are restored after the publication of windows that are longer than slots are kept', async () => {
    const history = await History.begin({ slotsMs: day * 1000 })
    history.isPublished = false
    const old = fc.sample(event, 40).map((each) => ({ ...each, customerRef: 'ada' }))
    await history.append(old)
    await history.projections.storeAll()
    for (let steps = 0; steps < 20; steps += 1) await history.projections.count()
    expect(await history.projections.count()).toBe('wait')
    for (const place of places.keys()) await history.publish(place)
    history.isPublished = true
    await history.finish()
    expect(await history.projections.restores('restored')).toBe(1)
    expect(await history.counted()).toEqual(expectedOf(history.appended))
    await history.close()
  })

  it('are restored in one run although every call fails once, before or after its effect', async () => {
    const history = await History.begin()
    await history.append(fc.sample(event, 60))
    await history.projections.storeAll()
    history.failEachCallOnce()
    await history.projections.countAll()
    expect(await history.projections.restores('begun')).toBe(1)
    await history.finish()
    expect(await history.counted()).toEqual(expectedOf(history.appended))
    await history.close()
  })

  it('are counted from a short log without ClickHouse', async () => {
    const history = await History.begin({ replayRecordsMax: 100 })
    await history.append(fc.sample(event, 50))
    await history.projections.countAll()
    await history.projections.storeAll()
    await history.act({ kind: 'lose-hot-state' })
    await history.finish()
    expect(await history.counted()).toEqual(expectedOf(history.appended))
    expect(await history.projections.restores('restored')).toBe(0)
    await history.close()
  })

  it('include records that were moved to ClickHouse from another log', async () => {
    const history = await History.begin()
    const moved = fc.sample(event, 40).map((each, index) => ({
      ...each,
      id: idOf('moved', index),
      idempotencyKey: `moved-${index}`,
    }))
    const rows = rowsOf(moved.map((each) => ({ offset: offsetOfNoLog, event: each })))
    const columns = usageColumns(history.partition)
    await logAndStore.clickhouse.store.insert('sandbox.usage_records', columns, rows, 'moved')
    const note = writeSinkNote({ ...firstNote('lineage'), hasMovedRecords: true })
    const { log } = logAndStore
    const untouched = await log.position(sinkGroup, topic, history.partition)
    await log.commit(sinkGroup, topic, history.partition, untouched, { offset: 0, note })
    // The records are sent again to the new log, where their keys are known.
    await history.append([...moved.slice(0, 5), ...fc.sample(event, 20)])
    await history.finish()
    expect(await history.counted()).toEqual(expectedOf([...moved, ...history.appended]))
    await history.act({ kind: 'lose-hot-state' })
    await history.finish()
    expect(await history.counted()).toEqual(expectedOf([...moved, ...history.appended]))
    await history.close()
  })
})
