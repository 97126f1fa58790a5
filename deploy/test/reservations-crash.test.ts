import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { runCountersBatch } from '@tollgate/aggregator/consume/run-counters-batch'
import { untracedBatches } from '@tollgate/aggregator/consume/trace-batches'
import { countingWindows } from '@tollgate/domain/entitlements/counting-windows'
import { reserveUsage } from '@tollgate/domain/entitlements/reserve-usage'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { afterEach, beforeEach, expect, test } from 'vitest'

const environment = 'sandbox'
const topic = usageTopic(environment)
const partitionCount = 2
const providerId = 'prv_1'
const productRef = 'prd_1'
const cap = 60
const nowMs = Date.UTC(2026, 0, 15)

function placeOf(customerRef: string): { subject: string; partition: number } {
  const subject = subjectKey(providerId, customerRef)
  return { subject, partition: partitionOf(subject, partitionCount) }
}

const own = 'cus_1'
/** Another reference of the customer, whose usage is counted in another partition than reservations are kept in. */
const other = Array.from({ length: 50 }, (_, number) => `user-${number}`).find(
  (ref) => placeOf(ref).partition !== placeOf(own).partition,
)!

const entitlement: Entitlement = {
  customerRef: own,
  purchaseRef: 'pur_1',
  planRef: 'pln_1',
  planType: 'recurring',
  endsAtMs: null,
  cap: `${cap}000000`,
  credit: null,
  firstPeriodStartSecond: nowMs / 1000 - 86_400,
  periods: [{ startSecond: nowMs / 1000 - 86_400, endSecond: nowMs / 1000 + 86_400 }],
  customerRefs: [own, other],
}

let dataDir: string
let log: EventLog
let hotState: HotState

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tollgate-reservations-'))
  log = await openFileEventLog({
    logFolder: join(dataDir, 'log'),
    groupsFolder: join(dataDir, 'groups'),
    role: 'writer',
    topics: { [topic]: partitionCount, [usageTopic('live')]: partitionCount },
  })
  // As the control plane opens it: it listens to whoever counts.
  hotState = await openLmdbHotState({ folder: join(dataDir, 'hot'), role: 'publisher' })
  await publish(entitlement, 1)
})

afterEach(async () => {
  await log.close()
  await hotState.close()
  await rm(dataDir, { recursive: true, force: true })
})

async function publish(published: Entitlement, version: number): Promise<void> {
  const entry = {
    version,
    document: JSON.stringify(published),
    windows: countingWindows(published),
  }
  // The own one last, as it is linked first.
  for (const ref of published.customerRefs.toReversed()) {
    const at = { space: environment, ...placeOf(ref), scope: productRef }
    await hotState.putEntry(at, entry)
  }
}

async function reserve(units: number, ttlMs: number, using = hotState) {
  const reserved = await reserveUsage(
    { log, hotState: using },
    {
      environment,
      providerId,
      customerRef: own,
      productRef,
      meterName: 'requests',
      unitsMicros: BigInt(units) * 1_000_000n,
      ttlMs,
      idempotencyKey: undefined,
      nowMs,
      waitMs: 30_000,
      reservationsMax: 1_000,
    },
  )
  if (reserved.kind !== 'decided') throw new Error(`It was not decided but ${reserved.kind}`)
  return reserved
}

let usages = 0

async function use(customerRef: string, units: number, reservationId: string): Promise<void> {
  const event: MeterEvent = {
    id: `usage_${usages++}`,
    providerId,
    customerRef,
    meterName: 'requests',
    value: units * 1_000_000,
    timestamp: nowMs,
    receivedAt: nowMs,
    productRef,
    purchaseRef: null,
    outcome: 'success',
    source: 'usages',
    idempotencyKey: null,
    properties: '{}',
    reservationId,
    traceParent: null,
    debit: null,
  }
  const buffer = Buffer.alloc(1_000)
  const value = buffer.subarray(0, encodeMeterEvent(event, buffer, 0))
  await log.appendAll(topic, [{ partition: placeOf(customerRef).partition, value }], nowMs)
}

async function countAll(using = hotState): Promise<void> {
  for (let partition = 0; partition < partitionCount; partition++) {
    const readLimits = { recordsMax: 1_000, bytesMax: 1_000_000 }
    const at = { log, hotState: using, environment, topic, partition } as const
    const parts = { ...at, readLimits, traceBatch: untracedBatches }
    await runCountersBatch(parts, await using.appliedOffset(environment, partition))
  }
}

/** The same hot state, one call of which is made otherwise. */
function withCall<Name extends keyof HotState>(name: Name, call: HotState[Name]): HotState {
  return new Proxy(hotState, {
    get(target, property) {
      if (property === name) return call
      return (target[property as keyof HotState] as () => unknown).bind(target)
    },
  })
}

test('a reservation that is used up elsewhere, after that was read, opens no place for its own units', async () => {
  const first = await reserve(cap, 60_000)
  let calls = 0
  const delayed = withCall('reserve', async (request) => {
    calls += 1
    if (calls === 1) {
      // All is read by now. The reservation is not held any more, and its usage is not among what was read.
      await use(other, cap, first.reservation!.id)
      await countAll()
    }
    return await hotState.reserve(request)
  })
  const second = await reserve(1, 60_000, delayed)
  expect(calls).toBe(2)
  expect(second).toMatchObject({ reservation: undefined, takenMicros: BigInt(cap) * 1_000_000n })
})

test('usage under a reference that is not linked ends its reservation, and is seen as soon as the reference is linked', async () => {
  await publish({ ...entitlement, customerRefs: [own] }, 2)
  const first = await reserve(cap, 60_000)
  await use(other, cap, first.reservation!.id)
  await countAll()
  expect(await reserve(1, 60_000)).toMatchObject({ takenMicros: 1_000_000n })
  await publish(entitlement, 3)
  expect(await reserve(1, 60_000)).toMatchObject({
    reservation: undefined,
    takenMicros: BigInt(cap + 1) * 1_000_000n,
  })
})

test('usage under a reference that is linked while somebody reserves is seen by that one', async () => {
  await publish({ ...entitlement, customerRefs: [own] }, 2)
  const first = await reserve(cap, 60_000)
  let calls = 0
  const delayed = withCall('reserve', async (request) => {
    calls += 1
    if (calls === 1) {
      // All is read by now, and nothing of the reference that is linked, used and counted here.
      await publish(entitlement, 3)
      await use(other, cap, first.reservation!.id)
      await countAll()
    }
    return await hotState.reserve(request)
  })
  const second = await reserve(1, 60_000, delayed)
  expect(calls).toBe(2)
  expect(second).toMatchObject({ reservation: undefined, takenMicros: BigInt(cap) * 1_000_000n })
})

test('a projection that dies before it has settled elsewhere leaves too little room, until the reservation expires', async () => {
  const first = await reserve(40, 1_500)
  await use(other, 40, first.reservation!.id)
  const dying = withCall('settleReservations', () => Promise.reject(new Error('It died here')))
  await expect(countAll(dying)).rejects.toThrow('It died here')
  await countAll()
  expect(await reserve(1, 60_000)).toMatchObject({
    reservation: undefined,
    takenMicros: 80_000_000n,
  })
  await sleep(first.reservation!.expiresAtMs - Date.now() + 10)
  expect((await reserve(cap - 40, 60_000)).reservation).toBeDefined()
  expect((await reserve(1, 60_000)).reservation).toBeUndefined()
})

test('never more than the cap is admitted while the projection is killed again and again', async () => {
  const random = new SeededRandom(20_260_115)
  let used = 0
  let isOver = false
  const projections = async (): Promise<void> => {
    for (;;) {
      const child = await startProjection()
      const lifeEndsAt = performance.now() + random.below(2_000)
      while (!isOver && performance.now() < lifeEndsAt) await sleep(10)
      await stop(child)
      if (isOver) return
    }
  }
  const work = async (): Promise<void> => {
    while (used < cap) {
      // Long enough that it is used in time; what a kill leaves unsettled is open again afterwards.
      const { reservation } = await reserve(1, 5_000)
      if (reservation === undefined) {
        await sleep(100)
        continue
      }
      used += 1
      expect(used).toBeLessThanOrEqual(cap)
      await use(random.pick(entitlement.customerRefs), 1, reservation.id)
    }
  }
  const killing = projections()
  try {
    await Promise.all(Array.from({ length: 8 }, work))
    expect((await reserve(1, 5_000)).reservation).toBeUndefined()
  } finally {
    isOver = true
    await killing
  }
  expect(used).toBe(cap)
}, 180_000)

const aggregator = fileURLToPath(import.meta.resolve('@tollgate/aggregator/main'))

async function startProjection(): Promise<ChildProcess> {
  const child = fork(aggregator, {
    execArgv: ['--conditions=source', '--import', 'tsx'],
    env: {
      PATH: process.env['PATH'],
      TOLLGATE_PROJECTION: 'counters',
      TOLLGATE_DATA_DIR: dataDir,
      // Never asked: the counters are not lost.
      TOLLGATE_CLICKHOUSE_URL: 'http://127.0.0.1:9',
      TOLLGATE_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
