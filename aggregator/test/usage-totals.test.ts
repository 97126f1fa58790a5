import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  sumStoredDebits,
  sumStoredDebitsOfProduct,
  sumStoredWindows,
  type StoredPart,
} from '@tollgate/domain/stored-usage/query-stored-usage'
import { listTotalledRanges } from '@tollgate/domain/stored-usage/totalled-ranges'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { outcomes, type MeterEvent } from '@tollgate/schemas/meter-event'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'
import { addState } from '../src/clickhouse/usage-totals.ts'
import type { Interruption } from './interrupted.ts'
import { createLogAndStore, type LogAndStore } from './log-and-store.ts'
import { meterEvent } from './meter-event.ts'
import { TotalledPartition } from './totalled-partition.ts'

const hourMs = 3_600_000
/** Two hours before the end of a month. */
const startMs = Date.UTC(2026, 2, 31, 22)
const references = ['cus_a', 'user-1']

const { numRuns, seed } = randomRuns(10)

let logAndStore: LogAndStore

beforeAll(async () => {
  logAndStore = await createLogAndStore(400)
  // Rows that were stored twice stay in two parts.
  await logAndStore.clickhouse.store.command('SYSTEM STOP MERGES sandbox.usage_records')
})

afterAll(() => logAndStore.remove())

type Shape = Pick<
  MeterEvent,
  'customerRef' | 'meterName' | 'value' | 'productRef' | 'outcome' | 'debit'
> & {
  readonly atMs: number
  /** A duplicate has an offset and no row. */
  readonly isStored: boolean
  readonly isStoredTwice: boolean
}

function mostly<Usual, Rare>(usual: fc.Arbitrary<Usual>, rare: fc.Arbitrary<Rare>) {
  return fc.oneof({ arbitrary: usual, weight: 6 }, { arbitrary: rare, weight: 1 })
}

/** Times at, beside and between the bounds of hours, in any order: records may be late. */
const times = fc
  .tuple(fc.integer({ min: 0, max: 5 }), fc.constantFrom(-1, 0, 1_000, 1_799_500, 3_599_999))
  .map(([hour, ms]) => hour * hourMs + ms)

const shapes: fc.Arbitrary<Shape> = fc.record({
  customerRef: mostly(fc.constantFrom(...references), fc.constant('other')),
  meterName: mostly(fc.constant('requests'), fc.constant('tokens')),
  value: fc.integer({ min: -3_000_000, max: 5_000_000 }),
  productRef: mostly(fc.constantFrom('prd_a', null), fc.constant('prd_b')),
  outcome: mostly(fc.constant('success' as const), fc.constantFrom(...outcomes)),
  debit: fc.constantFrom(null, '1500000'),
  atMs: times,
  isStored: mostly(fc.constant(true), fc.constant(false)),
  isStoredTwice: mostly(fc.constant(false), fc.constant(true)),
})

const windows = fc
  .tuple(times, times, fc.constantFrom('requests', 'tokens'))
  .map(([one, other, meterName]) => ({
    meterName,
    fromSecond: Math.floor((startMs + Math.min(one, other)) / 1000),
    toSecond: Math.floor((startMs + Math.max(one, other)) / 1000),
  }))

const interruptions: fc.Arbitrary<Interruption> = fc.record({
  atCall: fc.integer({ min: 1, max: 16 }),
  kind: fc.constantFrom('die-before', 'die-after', 'others-act'),
})

const cases = fc.record({
  recorded: fc.array(shapes, { minLength: 8, maxLength: 28, size: 'max' }),
  moved: fc.array(shapes, { maxLength: 3 }),
  rangeRecords: fc.integer({ min: 4, max: 12 }),
  /** Thousandths of the records that are stored when totals are made, and that a query reads. */
  stored: mostly(fc.constant(1_000), fc.integer({ min: 300, max: 1_000 })),
  read: mostly(fc.integer({ min: 500, max: 1_000 }), fc.nat(500)),
  steps: fc.array(fc.option(interruptions), { maxLength: 5 }),
  /** Whether steps are made until nothing is left to do. */
  isFinished: mostly(fc.constant(true), fc.constant(false)),
  leftovers: fc.array(
    fc.record({
      customerRef: fc.constantFrom(...references),
      state: fc.constantFrom(
        'none',
        'begun',
        'other generation',
        'other incarnation',
        'valid and dropped',
      ),
    }),
    { maxLength: 4, size: 'max' },
  ),
  windows: fc.array(windows, { minLength: 1, maxLength: 3, size: 'max' }),
})

type Record = { readonly offset: number; readonly shape: Shape }

/** Adds up records one by one, without ClickHouse. */
function addUp(
  records: readonly Record[],
  micros: (shape: Shape) => number,
  isSummed: (shape: Shape) => boolean,
): bigint {
  return records
    .filter(({ shape }) => shape.isStored && shape.outcome === 'success')
    .filter(({ shape }) => references.includes(shape.customerRef) && isSummed(shape))
    .reduce((sum, { shape }) => sum + BigInt(micros(shape)), 0n)
}

/** Smaller than the versions of steps, so that readers would choose them first. */
let leftoverVersion = 1

/** Stores totals that no reader may use. */
async function leaveBehind(
  at: TotalledPartition,
  providerId: string,
  range: { readonly fromOffset: number; readonly toOffset: number },
  { customerRef, state }: { readonly customerRef: string; readonly state: string },
): Promise<void> {
  const version = leftoverVersion++
  const { partition, store } = at
  const stamp = (await at.part(0)).totals!
  await store.command(
    `INSERT INTO sandbox.usage_totals VALUES ('${providerId}', '${customerRef}', 'requests', 'prd_a',
       toDateTime(${startMs / 1000}, 'UTC'), ${partition}, ${range.fromOffset}, ${version}, 1000000, 1000000, 1)`,
  )
  const place = { environment: 'sandbox', partition } as const
  const versions = [{ ...range, version }]
  if (state === 'begun') await addState(store, place, versions, 'begun')
  if (state === 'other generation')
    await addState(store, place, versions, 'valid', { ...stamp, generation: 'other' })
  if (state === 'other incarnation')
    await addState(store, place, versions, 'valid', { ...stamp, incarnation: 'other' })
  if (state === 'valid and dropped') {
    await addState(store, place, versions, 'dropped')
    await addState(store, place, versions, 'valid', stamp)
  }
}

it('sums with totals equal sums of rows and an independent count, for any records, positions, windows and interrupted steps', async () => {
  let usedTotals = 0
  const property = fc.asyncProperty(cases, async (generated) => {
    const at = new TotalledPartition(logAndStore, generated.rangeRecords)
    const providerId = `prv_${at.partition}`
    const eventOf = ({ atMs, isStored: _, isStoredTwice: __, ...fields }: Shape, id: string) =>
      meterEvent({ ...fields, id, providerId, timestamp: startMs + atMs })
    const recorded = generated.recorded.map((shape, offset) => ({ shape, offset }))
    const moved = generated.moved.map((shape) => ({ shape, offset: offsetOfNoLog }))
    const rows = [...recorded, ...moved]
      .map((record, number) => ({
        ...record,
        event: eventOf(record.shape, `usage_${at.partition}_${number}`),
      }))
      .filter(({ shape }) => shape.isStored)
    await at.insert(rows)
    await at.insert(rows.filter(({ shape }) => shape.isStoredTwice))

    const position = Math.ceil((recorded.length * generated.stored) / 1_000)
    await at.moveTo(position)
    const range = { fromOffset: 0, toOffset: Math.min(position, generated.rangeRecords) }
    for (const each of generated.leftovers) await leaveBehind(at, providerId, range, each)
    for (const interruption of generated.steps) await at.step(interruption ?? undefined)
    if (generated.isFinished) await at.finish()

    const beforeOffset = Math.floor((position * generated.read) / 1_000)
    const part = await at.part(beforeOffset)
    const parts: readonly StoredPart[][] = [[part], [await at.part(beforeOffset, false)]]
    const counted = [...moved, ...recorded.slice(0, beforeOffset)]
    const query = { environment: 'sandbox', providerId, customerRefs: references } as const
    const isWithin = ({ atMs }: Shape, { fromSecond, toSecond }: (typeof generated.windows)[0]) =>
      startMs + atMs >= fromSecond * 1000 && startMs + atMs < toSecond * 1000
    const expected = generated.windows.map((window) =>
      addUp(
        counted,
        ({ value }) => value,
        (shape) =>
          shape.meterName === window.meterName &&
          shape.productRef !== 'prd_b' &&
          isWithin(shape, window),
      ),
    )
    const ofDebits = ({ debit }: Shape): number => Number(debit ?? 0)
    for (const stored of parts) {
      const ofProduct = { ...query, productRef: 'prd_a' }
      expect(await sumStoredWindows(at.store, ofProduct, generated.windows, stored)).toEqual(
        expected,
      )
      expect(await sumStoredDebits(at.store, query, stored)).toBe(
        addUp(counted, ofDebits, () => true),
      )
      const [window] = generated.windows
      expect(await sumStoredDebitsOfProduct(at.store, ofProduct, window!, stored)).toBe(
        addUp(counted, ofDebits, (s) => s.productRef === 'prd_a' && isWithin(s, window!)),
      )
    }
    usedTotals += Number((await listTotalledRanges(at.store, 'sandbox', [part])).length > 0)
  })
  await fc.assert(property, { numRuns, seed })
  expect(usedTotals, `seed ${seed}`).toBeGreaterThan(numRuns / 4)
}, 120_000)
