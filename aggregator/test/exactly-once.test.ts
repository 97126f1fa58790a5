import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import { GroupFencedError, type EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { outcomes, type MeterEvent } from '@tollgate/schemas/meter-event'
import { subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { runCountersBatch } from '../src/consume/run-counters-batch.ts'
import { runSinkBatch } from '../src/consume/run-sink-batch.ts'
import { untracedBatches } from '../src/consume/trace-batches.ts'
import { interrupted, ProcessDied, type Interruption } from './interrupted.ts'
import { encoded, meterEvent } from './meter-event.ts'
import { TokenStore } from './token-store.ts'

const runTotal = 150
const topic = usageTopic('sandbox')
const customerRefs = ['cus_0', 'cus_1']
const day = 86_400

let folder: string
let log: EventLog
let runs = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-exactly-once-'))
  log = await openFileEventLog({
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role: 'writer',
    // One partition for every run and for every step of the search for a smaller counterexample.
    topics: { [topic]: 4_000 },
  })
})

afterAll(async () => {
  await log.close()
  await rm(folder, { recursive: true, force: true })
})

type Actor = 'counters' | 'sink'

type Act =
  | { readonly kind: 'append'; readonly events: readonly MeterEvent[] }
  | {
      readonly kind: 'step'
      readonly actor: Actor
      readonly recordsMax: number
      readonly interruption: Interruption | undefined
      readonly diesHalfway: boolean
      readonly others: readonly Actor[]
    }
  | { readonly kind: 'lose-hot-state' }

/** One history of one partition, on a real LMDB. */
class History {
  readonly #partition = runs++
  readonly store = new TokenStore()
  readonly events: MeterEvent[] = []
  #hotState!: HotState
  #hotFolders = 0
  #lineages = 0

  async open(): Promise<void> {
    const name = `hot-${this.#partition}-${this.#hotFolders++}`
    this.#hotState = await openLmdbHotState({
      folder: join(folder, name),
      role: 'projection',
    })
  }

  async close(): Promise<void> {
    await this.#hotState.close()
  }

  async act(act: Act): Promise<void> {
    if (act.kind === 'append') return await this.#append(act.events)
    if (act.kind === 'lose-hot-state') {
      await this.close()
      return await this.open()
    }
    this.store.diesHalfway = act.diesHalfway && act.actor === 'sink'
    const others = async (): Promise<void> => {
      this.store.diesHalfway = false
      for (const actor of act.others) await this.step(actor, act.recordsMax + 1)
    }
    await this.step(act.actor, act.recordsMax, act.interruption, others).catch((error: unknown) => {
      const isExpected = error instanceof ProcessDied || error instanceof GroupFencedError
      if (!isExpected && (error as Error).message !== 'died between table and view') throw error
    })
    this.store.diesHalfway = false
  }

  /** Runs one batch in a new process, which knows nothing of earlier ones. */
  async step(
    actor: Actor,
    recordsMax: number,
    interruption?: Interruption,
    others: () => Promise<void> = async () => {},
  ): Promise<string> {
    const counter = { calls: 0 }
    const port = <Port extends object>(real: Port): Port =>
      interrupted(real, counter, interruption, others)
    const parts = {
      log: port(log),
      hotState: port(this.#hotState),
      environment: 'sandbox' as const,
      topic,
      partition: this.#partition,
      readLimits: { recordsMax, bytesMax: 1 << 20 },
      traceBatch: untracedBatches,
    }
    if (actor === 'counters') {
      const position = await this.#hotState.appliedOffset('sandbox', this.#partition)
      return (await runCountersBatch(parts, position)).kind
    }
    const position = await log.position(sinkGroup, topic, this.#partition)
    const sinkParts = {
      ...parts,
      usageStore: port<UsageStore>(this.store),
      // The fake store keeps tokens and rows together, as a cluster does.
      cluster: 'main',
      countersWaitMs: 0,
      newLineage: () => `lineage-${this.#lineages++}`,
    }
    return (await runSinkBatch(sinkParts, position)).kind
  }

  /** Both projections run undisturbed until there is nothing left to do. */
  async finish(): Promise<void> {
    while ((await this.step('counters', 3)) !== 'idle');
    while ((await this.step('sink', 3)) !== 'idle');
  }

  /** Returns the counted micros of a meter by customer, summed over a window of all time. */
  async counted(meterName: string): Promise<string[]> {
    const sums: string[] = []
    for (const customerRef of customerRefs) {
      const subject = subjectKey('prov_1', customerRef)
      const at = { space: 'sandbox', partition: this.#partition, subject, scope: 'prd_all' }
      const windows = [{ id: 'all', fromSecond: 0, toSecond: 4_102_444_800 }]
      await this.#hotState.putEntry(at, { version: 1, document: '{}', windows })
      const { amounts } = await this.#hotState.readEntry(at, meterName)
      sums.push(String(amounts.get('all') ?? 0n))
    }
    return sums
  }

  async #append(events: readonly MeterEvent[]): Promise<void> {
    const records = events.map((event) => ({ partition: this.#partition, value: encoded(event) }))
    await log.appendAll(topic, records, 1_000)
    this.events.push(...events)
  }
}

/** Returns the records that count: the first record of each id, if it is a success. */
function firstRecords(events: readonly MeterEvent[]): MeterEvent[] {
  const byId = new Map<string, MeterEvent>()
  for (const event of events) if (!byId.has(event.id)) byId.set(event.id, event)
  return [...byId.values()]
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

let keylessTotal = 0

const anEvent = fc
  .record({
    key: fc.option(fc.integer({ min: 0, max: 5 })),
    value: fc.integer({ min: 0, max: 1_000 }),
    second: fc.constantFrom(0, 59, day, day + 1),
    outcome: fc.constantFrom(...outcomes),
    customer: fc.nat(customerRefs.length - 1),
    own: fc.constantFrom('requests', 'requests', ''),
    further: fc.subarray(['tokens', 'seats']),
  })
  .map(({ key, value, second, outcome, customer, own, further }) =>
    meterEvent({
      id: key === null ? `usage_keyless_${keylessTotal++}` : `usage_${key}`,
      idempotencyKey: key === null ? null : `key-${key}`,
      // A key belongs to one customer. With another customer it would be another id.
      customerRef: customerRefs[key === null ? customer : key % customerRefs.length]!,
      productRef: second === 59 ? null : 'prd_all',
      timestamp: second * 1_000,
      meterName: own,
      value: own === '' ? 0 : value,
      outcome,
      counts: further.map((meterName, index) => ({ meterName, value: value + index, text: null })),
    }),
  )

const actor = fc.constantFrom<Actor>('counters', 'sink')
const anAct = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      events: fc.array(anEvent, { minLength: 1, maxLength: 6 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('step' as const),
      actor,
      recordsMax: fc.integer({ min: 1, max: 4 }),
      interruption: fc.option(
        fc.record({
          atCall: fc.integer({ min: 1, max: 9 }),
          kind: fc.constantFrom('die-before' as const, 'die-after' as const, 'others-act' as const),
        }),
        { nil: undefined },
      ),
      diesHalfway: fc.boolean(),
      others: fc.array(actor, { maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'lose-hot-state' as const }) },
)

it('counts once and stores once, whichever process dies at any time and however batches are cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anAct, { maxLength: 40, size: 'max' }), async (acts) => {
      const history = new History()
      await history.open()
      try {
        for (const act of acts) await history.act(act)
        await history.finish()
        await check(history)
      } finally {
        await history.close()
      }
    }),
    { numRuns: runTotal },
  )
}, 120_000)

async function check(history: History): Promise<void> {
  const records = firstRecords(history.events)
  const counted = records.filter((event) => event.outcome === 'success')
  for (const meter of ['requests', 'tokens', 'seats']) {
    const valueOf = ({ meterName, value, counts }: MeterEvent): number =>
      [{ meterName, value }, ...counts].find((count) => count.meterName === meter)?.value ?? 0
    const expectedSums = customerRefs.map((ref) =>
      String(sumOf(counted.filter((event) => event.customerRef === ref).map(valueOf))),
    )
    expect(await history.counted(meter)).toEqual(expectedSums)
  }
  const rowOf = (row: Record<string, unknown>): unknown => [
    row['id'],
    row['meter_name'],
    row['value'],
  ]
  const rowsOf = (events: readonly MeterEvent[]): unknown =>
    events.flatMap(({ id, meterName, value, counts }) => {
      const further = counts.map((count) => [id, count.meterName, count.value])
      return meterName === '' && further.length > 0 ? further : [[id, meterName, value], ...further]
    })
  expect(history.store.rows.map(rowOf)).toEqual(rowsOf(records))
  expect(history.store.rollUp.map(rowOf)).toEqual(rowsOf(counted))
}
