import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { subjectKey } from '@tollgate/schemas/subject'
import { createLogAndStore, type LogAndStore } from './log-and-store.ts'
import { meterEvent } from './meter-event.ts'
import { SteppedProjections } from './stepped-projections.ts'

/** Each provider is claimed and summed separately. */
const providers = ['prov_1', 'prov_2']
const windows = [{ id: 'window', fromSecond: 0, toSecond: 4_000_000_000 }]

let logAndStore: LogAndStore
let statesTotal = 0

beforeAll(async () => {
  logAndStore = await createLogAndStore(100)
})

afterAll(async () => {
  await logAndStore.remove()
})

/** One address at which from time to time a new, empty hot state answers, as after FLUSHALL. */
class Emptied {
  #state: HotState | undefined
  /** Number of calls so far. */
  calls = 0
  emptyBeforeCall: number | undefined
  emptyBefore: keyof HotState | undefined

  readonly hotState = new Proxy({} as HotState, {
    get:
      (_, name: keyof HotState) =>
      async (...input: unknown[]) => {
        if (++this.calls === this.emptyBeforeCall || name === this.emptyBefore) await this.empty()
        const state: object = this.#state!
        const method: unknown = Reflect.get(state, name)
        if (typeof method !== 'function') throw new TypeError(`${name} is no method`)
        return (await Reflect.apply(method, state, input)) as unknown
      },
  })

  async empty(): Promise<void> {
    this.emptyBefore = undefined
    await this.close()
    const path = join(logAndStore.folder, `hot-${statesTotal++}`)
    this.#state = await openLmdbHotState({ folder: path, role: 'projection' })
  }

  async close(): Promise<void> {
    await this.#state?.close()
  }
}

/** Two records with keys, counted and stored, and then the same records again, waiting in the log. */
async function begin() {
  const emptied = new Emptied()
  await emptied.empty()
  // The counters read the fence once a second.
  let nowMs = Date.now()
  const projections = new SteppedProjections(logAndStore, {
    hotState: () => emptied.hotState,
    clock: { now: () => (nowMs += 1_000) },
    recordsPerBatchMax: 1,
  })
  const events = providers.map((providerId) => {
    const id = `usage_${projections.partition}_${providerId}`.padEnd(32, '0')
    return meterEvent({ id, providerId, productRef: 'prd_1', idempotencyKey: providerId })
  })
  await projections.append(events)
  await projections.countAll()
  await projections.storeAll()
  await projections.append(events)
  return { emptied, projections }
}

type Run = Awaited<ReturnType<typeof begin>>

async function expectExact({ emptied, projections }: Run, when: string): Promise<void> {
  const { partition } = projections
  const counted = await Promise.all(
    providers.map(async (providerId) => {
      const subject = subjectKey(providerId, 'cus_1')
      const at = { space: 'sandbox', partition, subject, scope: 'prd_1' }
      await emptied.hotState.putEntry(at, { version: 1, document: '{}', windows })
      return (await emptied.hotState.readEntry(at, 'requests')).amounts.get('window')
    }),
  )
  const rows = await logAndStore.clickhouse.store.query<{ offset: string }>(
    `SELECT log_offset AS offset FROM sandbox.usage_records WHERE log_partition = ${partition} ORDER BY offset`,
  )
  const offsets = rows.map(({ offset }) => offset)
  expect({ when, counted, offsets }).toEqual({
    when,
    counted: [1_000_000n, 1_000_000n],
    offsets: ['0', '1'],
  })
}

/**
 * Loses the hot state, and loses it again before the call `lostAt`. Returns the number of calls until all records were counted and
 * stored.
 */
async function loseTwice({ emptied, projections }: Run, lostAt: number): Promise<number> {
  await emptied.empty()
  emptied.calls = 0
  emptied.emptyBeforeCall = lostAt
  // One more iteration after the end detects a loss at the end.
  for (let idle = 0; idle < 2;) {
    const counted = await projections.count()
    const stored = await projections.store()
    idle = counted === 'idle' && stored === 'idle' ? idle + 1 : 0
  }
  return emptied.calls
}

it('counts are rebuilt completely if the hot state is lost again before any call to it', async () => {
  const callsWithout = await loseTwice(await begin(), 0)
  for (let lostAt = 1; lostAt <= callsWithout; lostAt += 1) {
    const run = await begin()
    await loseTwice(run, lostAt)
    await expectExact(run, `lost before call ${lostAt} of ${callsWithout}`)
    await run.emptied.close()
  }
}, 120_000)

it('the sink does not treat a duplicate as new after its marks were lost before it read them', async () => {
  const run = await begin()
  run.emptied.emptyBefore = 'readMarks'
  expect(await run.projections.store()).toBe('rebuilding')
  await run.projections.countAll()
  await run.projections.storeAll()
  await expectExact(run, 'lost before the marks were read')
  await run.emptied.close()
})
