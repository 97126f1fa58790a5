import { setTimeout as sleep } from 'node:timers/promises'
import { runCountersBatch } from '@tollgate/aggregator/consume/run-counters-batch'
import { untracedBatches } from '@tollgate/aggregator/consume/trace-batches'
import { releaseReservation } from '@tollgate/domain/reservations/release-reservation'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { killCounters, startCounters } from './holds/counters-process.ts'
import {
  cap,
  credit,
  entitlement,
  environment,
  HoldStores,
  other,
  own,
  partitionCount,
  providerId,
  topic,
} from './holds/hold-stores.ts'

let stores: HoldStores

beforeEach(async () => {
  stores = await HoldStores.open()
  await stores.publish(entitlement, 1)
})

afterEach(() => stores.remove())

async function countAll(using = stores.hotState): Promise<void> {
  for (let partition = 0; partition < partitionCount; partition++) {
    const readLimits = { recordsMax: 1_000, bytesMax: 1_000_000 }
    const { log } = stores
    const at = { log, hotState: using, environment, topic, partition } as const
    const parts = { ...at, readLimits, traceBatch: untracedBatches }
    await runCountersBatch(parts, await using.appliedOffset(environment, partition))
  }
}

/** Returns hot state with one method replaced. */
function withCall<Name extends keyof HotState>(name: Name, call: HotState[Name]): HotState {
  return new Proxy(stores.hotState, {
    get(target, property) {
      if (property === name) return call
      return (target[property as keyof HotState] as () => unknown).bind(target)
    },
  })
}

test('admits nothing extra if a reservation is used elsewhere after the read', async () => {
  const first = await stores.reserve(cap, 60_000)
  let calls = 0
  const delayed = withCall('reserve', async (request) => {
    calls += 1
    if (calls === 1) {
      // Everything has been read. The reservation is no longer held, and its usage is not in what was read.
      await stores.use(other, cap, first.reservation!.id)
      await countAll()
    }
    return await stores.hotState.reserve(request)
  })
  const second = await stores.reserve(1, 60_000, delayed)
  expect(calls).toBe(2)
  expect(second).toMatchObject({ reservation: undefined, takenMicros: BigInt(cap) * 1_000_000n })
})

test('ends a reservation by usage under an unlinked reference, and counts it once linked', async () => {
  await stores.publish({ ...entitlement, customerRefs: [own] }, 2)
  const first = await stores.reserve(cap, 60_000)
  await stores.use(other, cap, first.reservation!.id)
  await countAll()
  expect(await stores.reserve(1, 60_000)).toMatchObject({ takenMicros: 1_000_000n })
  await stores.publish(entitlement, 3)
  expect(await stores.reserve(1, 60_000)).toMatchObject({
    reservation: undefined,
    takenMicros: BigInt(cap + 1) * 1_000_000n,
  })
})

test('counts usage under a reference that is linked during a reservation', async () => {
  await stores.publish({ ...entitlement, customerRefs: [own] }, 2)
  const first = await stores.reserve(cap, 60_000)
  let calls = 0
  const delayed = withCall('reserve', async (request) => {
    calls += 1
    if (calls === 1) {
      // Everything has been read, but nothing of the reference that is linked, used and counted now.
      await stores.publish(entitlement, 3)
      await stores.use(other, cap, first.reservation!.id)
      await countAll()
    }
    return await stores.hotState.reserve(request)
  })
  const second = await stores.reserve(1, 60_000, delayed)
  expect(calls).toBe(2)
  expect(second).toMatchObject({ reservation: undefined, takenMicros: BigInt(cap) * 1_000_000n })
})

test('leaves too little room until expiry if the projection dies before it settles another shard', async () => {
  const first = await stores.reserve(40, 1_500)
  await stores.use(other, 40, first.reservation!.id)
  const dying = withCall('settleReservations', () => Promise.reject(new Error('It died here')))
  await expect(countAll(dying)).rejects.toThrow('It died here')
  await countAll()
  expect(await stores.reserve(1, 60_000)).toMatchObject({
    reservation: undefined,
    takenMicros: 80_000_000n,
  })
  await sleep(first.reservation!.expiresAtMs - Date.now() + 10)
  expect((await stores.reserve(cap - 40, 60_000)).reservation).toBeDefined()
  expect((await stores.reserve(1, 60_000)).reservation).toBeUndefined()
})

test('returns credits reserved by a killed process once, and debits late usage from the rest', async () => {
  await stores.publishCredits(60)
  const { reservation } = await stores.reserve(40, 1_500)
  await stores.reopenHotState()
  expect(await stores.creditsLeft()).toBe(20n)
  expect((await stores.reserve(21, 60_000)).reservation).toBeUndefined()
  await sleep(reservation!.expiresAtMs - Date.now() + 10)
  expect(await stores.creditsLeft()).toBe(60n)
  expect((await stores.reserve(50, 60_000)).reservation).toBeDefined()
  expect(await stores.takeFor('usage_late', 40, reservation!.id)).toBe(10n * credit)
  await stores.use(own, 40, reservation!.id, { id: 'usage_late', debit: `${10n * credit}` })
  await countAll()
  expect(await stores.creditsLeft()).toBe(0n)
})

test('returns reserved credits once if the process dies after it took them over', async () => {
  await stores.publishCredits(60)
  const { reservation } = await stores.reserve(40, 60_000)
  expect(await stores.takeFor('usage_dead', 50, reservation!.id, 1_000)).toBe(50n * credit)
  expect(await stores.creditsLeft()).toBe(10n)
  await stores.reopenHotState()
  await expect.poll(() => stores.creditsLeft()).toBe(60n)
  const parts = { hotState: stores.hotState, partitionCount: () => partitionCount }
  await releaseReservation(parts, environment, providerId, reservation!.id)
  expect(await stores.creditsLeft()).toBe(60n)
})

test('returns reserved credits for free usage in the step that counts it', async () => {
  await stores.publishCredits(60)
  const { reservation } = await stores.reserve(40, 60_000)
  await stores.use(own, 40, reservation!.id, { outcome: 'fail' })
  expect(await stores.creditsLeft()).toBe(20n)
  await countAll()
  await countAll()
  expect(await stores.creditsLeft()).toBe(60n)
})

test('loses reserved credits with hot state, and still debits usage', async () => {
  await stores.publishCredits(60)
  const { reservation } = await stores.reserve(40, 60_000)
  await stores.use(own, 5, '', { id: 'usage_first', debit: `${5n * credit}` })
  await stores.loseHotState()
  await stores.publishCredits(60)
  await countAll()
  expect(await stores.creditsLeft()).toBe(55n)
  expect(await stores.takeFor('usage_second', 40, reservation!.id)).toBe(40n * credit)
  await stores.use(own, 40, reservation!.id, { id: 'usage_second', debit: `${40n * credit}` })
  await countAll()
  expect(await stores.creditsLeft()).toBe(15n)
})

test('never admits more than the cap while the projection is killed repeatedly', async () => {
  const random = new SeededRandom(20_260_115)
  let used = 0
  let isOver = false
  const projections = async (): Promise<void> => {
    for (;;) {
      const child = await startCounters(stores.dataDir)
      const lifeEndsAt = performance.now() + random.below(2_000)
      while (!isOver && performance.now() < lifeEndsAt) await sleep(10)
      await killCounters(child)
      if (isOver) return
    }
  }
  const work = async (): Promise<void> => {
    while (used < cap) {
      // The lifetime is long enough to use the reservation in time. Reservations that a kill leaves unused expire afterwards.
      const { reservation } = await stores.reserve(1, 5_000)
      if (reservation === undefined) {
        await sleep(100)
        continue
      }
      used += 1
      expect(used).toBeLessThanOrEqual(cap)
      await stores.use(random.pick(entitlement.customerRefs), 1, reservation.id)
    }
  }
  const killing = projections()
  try {
    await Promise.all(Array.from({ length: 8 }, work))
    expect((await stores.reserve(1, 5_000)).reservation).toBeUndefined()
  } finally {
    isOver = true
    await killing
  }
  expect(used).toBe(cap)
}, 180_000)
