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
import { releaseReservation } from '@tollgate/domain/reservations/release-reservation'
import { reserveUsage } from '@tollgate/domain/reservations/reserve-usage'
import { unitsToHold } from '@tollgate/domain/reservations/units-to-hold'
import { walletAddress, walletEntry } from '@tollgate/domain/wallet/hot-wallet'
import { spendableMicros, readWallet } from '@tollgate/domain/wallet/read-wallet'
import { holdUsageCredits } from '@tollgate/domain/wallet/hold-usage-credits'
import { createTailParts } from '@tollgate/domain/entitlements/tail-parts'
import { tailSettings } from '@tollgate/domain/entitlements/tail-settings'
import { readSettings } from '@tollgate/platform/config/settings'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { withoutCounts, type MeterEvent } from '@tollgate/schemas/meter-event'
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
/** Another reference of the customer, whose usage is counted in a different partition than the one of its reservations. */
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
  // Opened like in the control plane, which waits for the counters.
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
  // The own reference is put last, because it is linked first.
  for (const ref of published.customerRefs.toReversed()) {
    const at = { space: environment, ...placeOf(ref), scope: productRef }
    await hotState.putEntry(at, entry)
  }
}

async function reserve(units: number, ttlMs: number, using = hotState) {
  const reserved = await reserveUsage(
    { log, hotState: using, ...tailParts(using) },
    {
      environment,
      providerId,
      customerRef: own,
      productRef,
      held: unitsToHold({ units, ttlSeconds: 1 }, undefined),
      ttlMs,
      idempotencyKey: undefined,
      nowMs,
      waitMs: 30_000,
      tailRecordsMax: 1_000,
      reservationsMax: 1_000,
      creditsHeldMax: 1_000,
    },
  )
  if (reserved.kind !== 'decided') throw new Error(`It was not decided but ${reserved.kind}`)
  return reserved
}

function tailParts(using: HotState) {
  return createTailParts({ log, hotState: using }, readSettings(tailSettings, {}))
}

let usages = 0

async function use(
  customerRef: string,
  units: number,
  reservationId: string,
  more: Partial<MeterEvent> = {},
): Promise<void> {
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
    ...withoutCounts,
    ...more,
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

/** Returns hot state with one method replaced. */
function withCall<Name extends keyof HotState>(name: Name, call: HotState[Name]): HotState {
  return new Proxy(hotState, {
    get(target, property) {
      if (property === name) return call
      return (target[property as keyof HotState] as () => unknown).bind(target)
    },
  })
}

test('admits nothing extra if a reservation is used elsewhere after the read', async () => {
  const first = await reserve(cap, 60_000)
  let calls = 0
  const delayed = withCall('reserve', async (request) => {
    calls += 1
    if (calls === 1) {
      // Everything has been read. The reservation is no longer held, and its usage is not in what was read.
      await use(other, cap, first.reservation!.id)
      await countAll()
    }
    return await hotState.reserve(request)
  })
  const second = await reserve(1, 60_000, delayed)
  expect(calls).toBe(2)
  expect(second).toMatchObject({ reservation: undefined, takenMicros: BigInt(cap) * 1_000_000n })
})

test('ends a reservation by usage under an unlinked reference, and counts it once linked', async () => {
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

test('counts usage under a reference that is linked during a reservation', async () => {
  await publish({ ...entitlement, customerRefs: [own] }, 2)
  const first = await reserve(cap, 60_000)
  let calls = 0
  const delayed = withCall('reserve', async (request) => {
    calls += 1
    if (calls === 1) {
      // Everything has been read, but nothing of the reference that is linked, used and counted now.
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

test('leaves too little room until expiry if the projection dies before it settles another shard', async () => {
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

const wallet = { environment, providerId, customerRef: own } as const
const credit = 1_000_000n

/** Publishes a plan with 1 credit per unit and a wallet with the given credits. */
async function publishCredits(credits: number): Promise<void> {
  await publish({ ...entitlement, cap: null, credit: { creditsPerUnit: 1, currency: 'USD' } }, 5)
  const sums = { grantedMicros: BigInt(credits) * credit, removedMicros: 0n }
  const at = walletAddress(wallet, partitionCount)
  await hotState.putEntry(at, { version: 1, ...walletEntry(sums, []) })
}

async function creditsLeft(): Promise<bigint> {
  return spendableMicros(await readWallet({ log, hotState }, wallet, 5_000)) / credit
}

/** Debits the wallet like ingest before it writes the record. Returns the debit. */
async function takeFor(usageRef: string, units: number, reservationId: string, heldMs = 60_000) {
  const due = { ...wallet, usageRef, dueMicros: BigInt(units) * credit, isKeyed: false }
  const limits = { waitMs: 5_000, heldMs, heldMax: 1_000 }
  return (await holdUsageCredits({ log, hotState }, { ...due, reservationId }, limits)).heldMicros
}

/** Opens hot state again, like a process that starts after another one was killed. */
async function reopenHotState(): Promise<void> {
  await hotState.close()
  hotState = await openLmdbHotState({ folder: join(dataDir, 'hot'), role: 'publisher' })
}

test('returns credits reserved by a killed process once, and debits late usage from the rest', async () => {
  await publishCredits(60)
  const { reservation } = await reserve(40, 1_500)
  await reopenHotState()
  expect(await creditsLeft()).toBe(20n)
  expect((await reserve(21, 60_000)).reservation).toBeUndefined()
  await sleep(reservation!.expiresAtMs - Date.now() + 10)
  expect(await creditsLeft()).toBe(60n)
  expect((await reserve(50, 60_000)).reservation).toBeDefined()
  expect(await takeFor('usage_late', 40, reservation!.id)).toBe(10n * credit)
  await use(own, 40, reservation!.id, { id: 'usage_late', debit: `${10n * credit}` })
  await countAll()
  expect(await creditsLeft()).toBe(0n)
})

test('returns reserved credits once if the process dies after it took them over', async () => {
  await publishCredits(60)
  const { reservation } = await reserve(40, 60_000)
  expect(await takeFor('usage_dead', 50, reservation!.id, 1_000)).toBe(50n * credit)
  expect(await creditsLeft()).toBe(10n)
  await reopenHotState()
  await expect.poll(creditsLeft).toBe(60n)
  const parts = { hotState, partitionCount: () => partitionCount }
  await releaseReservation(parts, environment, providerId, reservation!.id)
  expect(await creditsLeft()).toBe(60n)
})

test('returns reserved credits for free usage in the step that counts it', async () => {
  await publishCredits(60)
  const { reservation } = await reserve(40, 60_000)
  await use(own, 40, reservation!.id, { outcome: 'fail' })
  expect(await creditsLeft()).toBe(20n)
  await countAll()
  await countAll()
  expect(await creditsLeft()).toBe(60n)
})

test('loses reserved credits with hot state, and still debits usage', async () => {
  await publishCredits(60)
  const { reservation } = await reserve(40, 60_000)
  await use(own, 5, '', { id: 'usage_first', debit: `${5n * credit}` })
  await hotState.close()
  await rm(join(dataDir, 'hot'), { recursive: true, force: true })
  hotState = await openLmdbHotState({ folder: join(dataDir, 'hot'), role: 'publisher' })
  await publishCredits(60)
  await countAll()
  expect(await creditsLeft()).toBe(55n)
  expect(await takeFor('usage_second', 40, reservation!.id)).toBe(40n * credit)
  await use(own, 40, reservation!.id, { id: 'usage_second', debit: `${40n * credit}` })
  await countAll()
  expect(await creditsLeft()).toBe(15n)
})

test('never admits more than the cap while the projection is killed repeatedly', async () => {
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
      // The lifetime is long enough to use the reservation in time. Reservations that a kill leaves unused expire afterwards.
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

const aggregator = fileURLToPath(new URL('../../aggregator/dist/main.js', import.meta.url))

async function startProjection(): Promise<ChildProcess> {
  const child = fork(aggregator, {
    // The Node options of a Vitest worker are not inherited, because they resolve packages to their sources.
    execArgv: [],
    env: {
      PATH: process.env['PATH'],
      TOLLGATE_PROJECTION: 'counters',
      TOLLGATE_DATA_DIR: dataDir,
      // ClickHouse is never queried, because the counters are not lost.
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
