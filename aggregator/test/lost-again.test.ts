import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
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
import { subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { createCountersProjection } from '../src/consume/counters-projection.ts'
import { createProjectionMetrics } from '../src/consume/projection-metrics.ts'
import { runSinkBatch } from '../src/consume/run-sink-batch.ts'
import { untracedBatches } from '../src/consume/trace-batches.ts'
import { emptyUsageTables } from './installation.ts'
import { encoded, meterEvent } from './meter-event.ts'

const topic = usageTopic('sandbox')
const forEver = 1e15
const retention = {
  marksMs: forEver,
  windowsMs: forEver,
  slotsMs: forEver,
  knownSubjectSlotsMs: forEver,
  sweepKeysMax: 100,
}
/** Each is claimed and summed up by itself. */
const providers = ['prov_1', 'prov_2']
const windows = [{ id: 'window', fromSecond: 0, toSecond: 4_000_000_000 }]

let folder: string
let log: EventLog
let clickhouse: TestUsageStore
let statesTotal = 0
let runs = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-lost-again-'))
  log = await openFileEventLog({
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role: 'writer',
    topics: { [topic]: 100 },
  })
  clickhouse = await startTestUsageStore()
  await emptyUsageTables(clickhouse)
})

afterAll(async () => {
  await log.close()
  await clickhouse.stop()
  await rm(folder, { recursive: true, force: true })
})

/** One address at which now and then another, empty hot state answers, as after FLUSHALL. */
class Emptied {
  #state: HotState | undefined
  /** How many calls have been made. */
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
    const path = join(folder, `hot-${statesTotal++}`)
    this.#state = await openLmdbHotState({ folder: path, role: 'projection' })
  }

  async close(): Promise<void> {
    await this.#state?.close()
  }
}

/** Two keyed records, counted and stored; then, waiting in the log, the same once more. */
async function begin() {
  const partition = runs++
  const emptied = new Emptied()
  await emptied.empty()
  const parts = {
    log,
    hotState: emptied.hotState,
    usageStore: clickhouse.store,
    environment: 'sandbox' as const,
    topic,
    partition,
    readLimits: { recordsMax: 1, bytesMax: 1 << 20 },
    traceBatch: untracedBatches,
  }
  // The fence is looked at once a second.
  let nowMs = Date.now()
  const clock = { now: () => (nowMs += 1_000) }
  const counters = createCountersProjection(
    { ...parts, clock, retention, replayRecordsMax: 0, isPublished: async () => true },
    createProjectionMetrics(createMetrics('test')),
    createLogger('test', 'error'),
  )
  const count = async (): Promise<string> => {
    const { kind } = await counters.step()
    if (kind === 'fenced') counters.forgetPosition()
    return kind
  }
  const sink = { ...parts, countersWaitMs: 0, newLineage: () => `lineage-${partition}` }
  const store = async (): Promise<string> =>
    (await runSinkBatch(sink, await log.position(sinkGroup, topic, partition))).kind
  const append = async (): Promise<void> => {
    const events = providers.map((providerId) => {
      const id = `usage_${partition}_${providerId}`.padEnd(32, '0')
      return meterEvent({ id, providerId, productRef: 'prd_1', idempotencyKey: providerId })
    })
    const records = events.map((event) => ({ partition, value: encoded(event) }))
    await log.appendAll(topic, records, Date.now())
  }

  await append()
  while ((await count()) !== 'idle');
  while ((await store()) !== 'idle');
  await append()
  return { emptied, partition, count, store }
}

type Run = Awaited<ReturnType<typeof begin>>

async function expectExact({ emptied, partition }: Run, when: string): Promise<void> {
  const counted = await Promise.all(
    providers.map(async (providerId) => {
      const subject = subjectKey(providerId, 'cus_1')
      const at = { space: 'sandbox', partition, subject, scope: 'prd_1' }
      await emptied.hotState.putEntry(at, { version: 1, document: '{}', windows })
      return (await emptied.hotState.readEntry(at, 'requests')).amounts.get('window')
    }),
  )
  const rows = await clickhouse.store.query<{ offset: string }>(
    `SELECT log_offset AS offset FROM sandbox.usage_records WHERE log_partition = ${partition} ORDER BY offset`,
  )
  const offsets = rows.map(({ offset }) => offset)
  expect({ when, counted, offsets }).toEqual({
    when,
    counted: [1_000_000n, 1_000_000n],
    offsets: ['0', '1'],
  })
}

/** Loses the hot state, and once more before that call; returns how many calls it took to have all counted and stored. */
async function loseTwice({ emptied, count, store }: Run, lostAt: number): Promise<number> {
  await emptied.empty()
  emptied.calls = 0
  emptied.emptyBeforeCall = lostAt
  // Once more after the end, so that a loss there is noticed too.
  for (let idle = 0; idle < 2;) {
    const counted = await count()
    const stored = await store()
    idle = counted === 'idle' && stored === 'idle' ? idle + 1 : 0
  }
  return emptied.calls
}

it('counts are made again in full when the hot state is lost once more before any call to it', async () => {
  const callsWithout = await loseTwice(await begin(), 0)
  for (let lostAt = 1; lostAt <= callsWithout; lostAt += 1) {
    const run = await begin()
    await loseTwice(run, lostAt)
    await expectExact(run, `lost before call ${lostAt} of ${callsWithout}`)
    await run.emptied.close()
  }
}, 120_000)

it('the sink takes nothing for new because its marks were lost before it read them', async () => {
  const run = await begin()
  run.emptied.emptyBefore = 'readMarks'
  expect(await run.store()).toBe('rebuilding')
  while ((await run.count()) !== 'idle');
  while ((await run.store()) !== 'idle');
  await expectExact(run, 'lost before the marks were read')
  await run.emptied.close()
})
