import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCountersBatch } from '@tollgate/aggregator/consume/run-counters-batch'
import { untracedBatches } from '@tollgate/aggregator/consume/trace-batches'
import { readCountedUsage } from '@tollgate/domain/entitlements/counted-usage-reader'
import { createTailParts } from '@tollgate/domain/entitlements/tail-parts'
import { tailSettings } from '@tollgate/domain/entitlements/tail-settings'
import type { UsageParts } from '@tollgate/domain/entitlements/usage-query'
import { readSettings } from '@tollgate/platform/config/settings'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { windowId, type Entitlement } from '@tollgate/schemas/hot-state/documents'
import { outcomes, type MeterEvent, withoutCounts } from '@tollgate/schemas/meter-event'
import { encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import fc from 'fast-check'
import { expect, test } from 'vitest'

/*
 * Compares limit checks while the counters lag with a model that processes all records one by one. The real projection counts in
 * steps of any size during the checks. Hot state is lost or replaced by an older copy, so that the fence moves back. Records are
 * late and repeat keys.
 *
 * Set TOLLGATE_TEST_BEHIND_RUNS=1000 for more runs.
 */
const runs = Number(process.env['TOLLGATE_TEST_BEHIND_RUNS'] ?? 25)

const environment = 'sandbox'
const topic = usageTopic(environment)
const partitionCount = 2
const providerId = 'prv_1'
const start = 1_750_000_000
const periods = [
  { startSecond: start, endSecond: start + 100 },
  { startSecond: start + 100, endSecond: start + 200 },
]
const products = ['prd_A', 'prd_B']
/** Two references of one customer, and a second customer. */
const customers = [['cus_1', 'user-1'], ['cus_2']]
const references = customers.flat()

type Shape = {
  readonly customerRef: string
  readonly productRef: string | null
  readonly meterName: string
  readonly outcome: MeterEvent['outcome']
  readonly key: string | null
  readonly second: number
  readonly value: number
}

const shape: fc.Arbitrary<Shape> = fc.record({
  customerRef: fc.constantFrom(...references, 'stranger'),
  productRef: fc.constantFrom(...products, 'prd_A', null),
  meterName: fc.constantFrom('requests', 'requests', 'requests', 'tokens'),
  outcome: fc.constantFrom(...outcomes, 'success' as const, 'success' as const),
  key: fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')),
  // Seconds at the end of one period and the start of the next, and outside all periods.
  second: fc.constantFrom(
    start - 400,
    start - 300,
    start,
    start + 99,
    start + 100,
    start + 199,
    start + 200,
  ),
  value: fc.integer({ min: -1_000_000, max: 9_000_000 }),
})

type Step =
  | { readonly kind: 'record'; readonly shapes: readonly Shape[]; readonly times: number }
  | { readonly kind: 'count'; readonly recordsMax: number; readonly batches: number }
  | { readonly kind: 'check'; readonly callers: number; readonly countedMeanwhile: number }
  | { readonly kind: 'copy' | 'restore' | 'lose' }

const check: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('check' as const),
  callers: fc.integer({ min: 1, max: 12 }),
  countedMeanwhile: fc.constantFrom(0, 0, 1, 7, 900),
})

const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: check, weight: 6 },
  {
    arbitrary: fc.record({
      kind: fc.constant('record' as const),
      shapes: fc.array(shape, { minLength: 1, maxLength: 30 }),
      times: fc.constantFrom(1, 1, 1, 60),
    }),
    weight: 5,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant('count' as const),
      recordsMax: fc.constantFrom(1, 3, 50, 700, 5_000),
      batches: fc.integer({ min: 1, max: 3 }),
    }),
    weight: 3,
  },
  { arbitrary: fc.record({ kind: fc.constantFrom('copy', 'restore', 'lose') }), weight: 2 },
)

test('limit checks add exactly the records that are not counted yet', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const world = await World.open()
      try {
        for (const each of steps) await world.take(each)
        await world.take({ kind: 'check', callers: 6, countedMeanwhile: 0 })
      } finally {
        await world.close()
      }
    }),
    { numRuns: runs, endOnFailure: true },
  )
}, 600_000)

class World {
  readonly #folder: string
  readonly #log: EventLog
  readonly #parts: UsageParts
  readonly #recorded: Shape[] = []
  #hotState: HotState
  #stateNumber = 0
  #copyNumber: number | undefined

  static async open(): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-behind-'))
    const log = await openFileEventLog({
      logFolder: join(folder, 'log'),
      groupsFolder: join(folder, 'groups'),
      role: 'writer',
      topics: { [topic]: partitionCount },
    })
    const world = new World(
      folder,
      log,
      await openLmdbHotState({ folder: join(folder, '0'), role: 'projection' }),
    )
    await world.#publish()
    return world
  }

  private constructor(folder: string, log: EventLog, hotState: HotState) {
    this.#folder = folder
    this.#log = log
    this.#hotState = hotState
    const parts = { log, hotState: this.#currentState() }
    const settings = { TOLLGATE_COUNTERS_STANDSTILL_MS: '1' }
    this.#parts = { ...parts, ...createTailParts(parts, readSettings(tailSettings, settings)) }
  }

  async take(each: Step): Promise<void> {
    switch (each.kind) {
      case 'record':
        return await this.#record(each.shapes, each.times)
      case 'count':
        for (let batch = 0; batch < each.batches; batch += 1) await this.#count(each.recordsMax)
        return
      case 'check':
        return await this.#check(each.callers, each.countedMeanwhile)
      case 'copy':
        return await this.#copy()
      case 'restore':
        if (this.#copyNumber !== undefined) await this.#reopenFrom(this.#copyNumber)
        return
      case 'lose':
        return await this.#reopenFrom(undefined)
    }
  }

  async close(): Promise<void> {
    await this.#log.close()
    await this.#hotState.close()
    await rm(this.#folder, { recursive: true })
  }

  /** Returns a proxy object that callers keep while the state behind it is replaced, like a connection to a server. */
  #currentState(): HotState {
    return new Proxy(this.#hotState, {
      get: (_, name) => {
        const state = this.#hotState
        const own: unknown = Reflect.get(state, name, state)
        return typeof own === 'function' ? (own.bind(state) as unknown) : own
      },
    })
  }

  async #check(callers: number, countedMeanwhile: number): Promise<void> {
    const reads = Array.from({ length: callers }, async (_, caller) => {
      const customerRef = references[caller % references.length]!
      const productRef = products[caller % products.length]!
      const { amounts } = await readCountedUsage(this.#parts, {
        environment,
        providerId,
        customerRef,
        productRef,
        meterName: 'requests',
        waitMs: 1,
        tailRecordsMax: 1_000_000,
      })
      expect(amountsOf(amounts, productRef)).toEqual(this.#expected(customerRef, productRef))
    })
    const counting = countedMeanwhile === 0 ? undefined : this.#count(countedMeanwhile)
    await Promise.all([...reads, counting])
  }

  /** Returns the expected amounts by processing all records one by one. */
  #expected(customerRef: string, productRef: string): bigint[] {
    const own = customers.find((refs) => refs.includes(customerRef))!
    const used = new Set<string>()
    const amounts = [0n, 0n]
    for (const each of this.#recorded) {
      if (each.key !== null) {
        if (used.has(idOf(each))) continue
        used.add(idOf(each))
      }
      const counts =
        each.outcome === 'success' &&
        each.meterName === 'requests' &&
        (each.productRef === null || each.productRef === productRef) &&
        own.includes(each.customerRef)
      if (!counts) continue
      // A record up to 300 seconds before the first period counts in that period.
      if (each.second >= start - 300 && each.second < start + 100) amounts[0]! += BigInt(each.value)
      else if (each.second >= start + 100 && each.second < start + 200)
        amounts[1]! += BigInt(each.value)
    }
    return amounts
  }

  async #record(shapes: readonly Shape[], times: number): Promise<void> {
    const all = Array.from({ length: times }, () => shapes).flat()
    this.#recorded.push(...all)
    const records = all.map((each) => ({
      partition: partitionFor(each.customerRef),
      value: encoded(each),
    }))
    await this.#log.appendAll(topic, records, start * 1000)
  }

  async #count(recordsMax: number): Promise<void> {
    for (let partition = 0; partition < partitionCount; partition += 1) {
      const parts = {
        log: this.#log,
        hotState: this.#hotState,
        environment,
        topic,
        partition,
        readLimits: { recordsMax, bytesMax: 1 << 20 },
        traceBatch: untracedBatches,
      } as const
      await runCountersBatch(parts, await this.#hotState.appliedOffset(environment, partition))
    }
  }

  async #copy(): Promise<void> {
    this.#copyNumber = this.#stateNumber
    await this.#reopenFrom(this.#copyNumber)
  }

  async #reopenFrom(number: number | undefined): Promise<void> {
    await this.#hotState.close()
    this.#stateNumber += 1
    const folder = join(this.#folder, String(this.#stateNumber))
    if (number !== undefined)
      await cp(join(this.#folder, String(number)), folder, { recursive: true })
    this.#hotState = await openLmdbHotState({ folder, role: 'projection' })
    await this.#publish()
  }

  async #publish(): Promise<void> {
    for (const refs of customers) {
      for (const productRef of products) {
        const entitlement = entitlementOf(refs, productRef)
        const windows = [
          {
            id: windowId(`pur_${productRef}`, start),
            fromSecond: start - 300,
            toSecond: start + 100,
          },
          {
            id: windowId(`pur_${productRef}`, start + 100),
            fromSecond: start + 100,
            toSecond: start + 200,
          },
        ]
        for (const ref of refs) {
          const at = {
            space: environment,
            partition: partitionFor(ref),
            subject: subjectKey(providerId, ref),
            scope: productRef,
          }
          await this.#hotState.putEntry(at, {
            version: 1,
            document: JSON.stringify(entitlement),
            windows,
          })
        }
      }
    }
  }
}

function amountsOf(amounts: ReadonlyMap<string, bigint>, productRef: string): bigint[] {
  return periods.map(
    ({ startSecond }) => amounts.get(windowId(`pur_${productRef}`, startSecond)) ?? 0n,
  )
}

function partitionFor(customerRef: string): number {
  return partitionOf(subjectKey(providerId, customerRef), partitionCount)
}

function entitlementOf(customerRefs: readonly string[], productRef: string): Entitlement {
  return {
    customerRef: customerRefs[0]!,
    purchaseRef: `pur_${productRef}`,
    planRef: 'pln_1',
    planType: 'recurring',
    endsAtMs: null,
    cap: '10000000',
    credit: null,
    firstPeriodStartSecond: start,
    periods,
    customerRefs: [...customerRefs],
  }
}

/** Idempotency keys are separate for each customer reference. */
function idOf({ customerRef, key }: Shape): string {
  return `usage_${customerRef}_${key}`
}

let withoutKey = 0

function encoded(each: Shape): Buffer {
  const event: MeterEvent = {
    id: each.key === null ? `usage_unkeyed_${withoutKey++}` : idOf(each),
    providerId,
    customerRef: each.customerRef,
    meterName: each.meterName,
    value: each.value,
    timestamp: each.second * 1000 + 999,
    receivedAt: start * 1000,
    productRef: each.productRef,
    purchaseRef: null,
    outcome: each.outcome,
    source: 'usages',
    idempotencyKey: each.key,
    properties: '{}',
    reservationId: null,
    traceParent: null,
    debit: null,
    ...withoutCounts,
  }
  const buffer = Buffer.alloc(2_000)
  return Buffer.from(buffer.subarray(0, encodeMeterEvent(event, buffer, 0)))
}
