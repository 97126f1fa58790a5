import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import {
  expiredPerReadMax,
  expiredPerStepMax,
  type ReserveRequest,
} from '../hot-state/reservations.ts'
import type { HotStateUnderTest } from './hot-state-under-test.ts'
import { nothingExpired } from './nothing-expired.ts'
import { at, countAt, ids, partition, publishAt, request, type Batch } from './reserved-place.ts'

/** An offset that no batch of these tests reaches. */
const farOffset = 1_000_000

/** Tests of reservations of the remaining units, and of reservations before every use. */
export function describeReservedFirst(under: () => HotStateUnderTest): void {
  const hot = () => under().hot
  const count = (...batch: Batch) => countAt(hot(), ...batch)
  const reserve = (id: string, more: Partial<ReserveRequest> = {}) =>
    hot().reserve(request(id, more))
  /** Reserves while the counters are behind. */
  const reserveFirst = (id: string, more: Partial<ReserveRequest> = {}) =>
    reserve(id, { minOffset: farOffset, isReservedFirst: true, ...more })
  const readTaken = (minOffset = 0) =>
    hot().readTaken({ at, series: 'calls', windowId: 'w', minOffset })
  /** Reserves without requiring an offset of the counters. Returns the expiry. */
  const reserveFor = async (ttlMs: number, id: string, units = 1n) => {
    const outcome = await reserve(id, { ttlMs, units, cap: null, isReservedFirst: true })
    if (outcome.kind !== 'admitted') throw new Error(`It was not admitted but ${outcome.kind}`)
    return outcome.expiresAtMs
  }
  const expire = (expiryMs: number) => sleep(Math.max(0, expiryMs - Date.now()) + 5)
  const sweep = (reservationsExpiredBeforeMs: number, keysMax = 10) =>
    hot().sweep(at.space, partition, { ...nothingExpired, reservationsExpiredBeforeMs, keysMax })

  describe('a record that was reserved for first', () => {
    it('holds nothing again once it is marked, however late a repeated call arrives', async () => {
      await publishAt(hot(), at)
      const [id, other] = ['usage_1', 'usage_2']
      const first = await reserveFirst(id, { minOffset: 0, units: 5n })
      const mark = { id, offset: 3, receivedAtMs: 1_000 }
      const claim = { space: at.space, partition, fromOffset: 0, toOffset: 5, marks: [mark] }
      await hot().claimMarks(claim)
      // The record is in the log but not counted yet, so the held reservation is returned.
      expect(await reserveFirst(id, { minOffset: 0, units: 7n })).toEqual(first)
      await count(10, 5n, { settled: [id], isForgotten: true })
      const taken = { used: 5n, reserved: 0n }
      expect(await reserveFirst(id, { minOffset: 0 })).toEqual({ kind: 'denied', taken })
      expect(await reserveFirst(other, { minOffset: 0 })).toMatchObject({ kind: 'admitted' })
      // A reservation for another purpose may use any id.
      expect(await reserve(id)).toMatchObject({ kind: 'admitted' })
    })
  })

  describe('reservations of the rest', () => {
    it('take the remaining room if it is more than nothing', async () => {
      await publishAt(hot(), at)
      await count(10, 30n)
      const rest = (id: string, units: bigint) => reserve(id, { units, takes: 'rest' })
      expect(await rest('whole', 50n)).toMatchObject({
        kind: 'admitted',
        units: 50n,
        taken: { used: 30n, reserved: 50n },
      })
      expect(await reserve('all', { units: 21n })).toMatchObject({ kind: 'denied' })
      const last = await rest('last', 21n)
      const taken = { used: 30n, reserved: 70n }
      expect(last).toMatchObject({ kind: 'admitted', units: 20n, taken })
      expect(await rest('none', 1n)).toEqual({ kind: 'denied', taken })
      expect(await rest('last', 50n)).toEqual(last)
      expect(await reserve('lower', { takes: 'rest', cap: 40n })).toEqual({ kind: 'denied', taken })
      const unlimited = await reserve('unlimited', { takes: 'rest', cap: null, units: 2n ** 61n })
      expect(unlimited).toMatchObject({ units: 2n ** 61n })
    })

    it('take exactly the cap together, however many are requested at once', async () => {
      await publishAt(hot(), at)
      const outcomes = await Promise.all(
        ids(1_000).map((id) => reserve(id, { units: 7n, cap: 1_000n, takes: 'rest' })),
      )
      const taken = outcomes.flatMap((each) => (each.kind === 'admitted' ? [each.units] : []))
      expect(taken.filter((units) => units === 7n)).toHaveLength(142)
      expect(taken.filter((units) => units !== 7n)).toEqual([6n])
      expect(await readTaken()).toMatchObject({ taken: { used: 0n, reserved: 1_000n } })
    })

    it.each([53n, 62n, 63n, 64n, 90n])('are exact around 2^%d', async (bits) => {
      await publishAt(hot(), at)
      const used = 2n ** bits - 3n
      await count(10, used)
      const units = 2n ** 62n - 1n
      const rest = (id: string, room: bigint) =>
        reserve(id, { units, takes: 'rest', cap: used + room })
      expect(await rest('less than nothing', -1n)).toMatchObject({ kind: 'denied' })
      expect(await rest('nothing', 0n)).toMatchObject({ kind: 'denied' })
      expect(await rest('little', 5n)).toMatchObject({ units: 5n })
      expect(await rest('as much as there is', units + 5n)).toMatchObject({ units })
      expect(await rest('almost as much', 2n * units + 4n)).toMatchObject({ units: units - 1n })
      expect(await readTaken()).toMatchObject({ taken: { used, reserved: 2n * units + 4n } })
    })
  })

  describe('reservations before every use', () => {
    it('wait for counters once at an unknown place, and then no more', async () => {
      await publishAt(hot(), at)
      const behind = { kind: 'behind' }
      expect(await reserveFirst('a', { minOffset: 10 })).toEqual(behind)
      expect(await readTaken(10)).toEqual(behind)
      await count(10, 40n)
      expect(await readTaken(10)).toMatchObject({ taken: { used: 40n, reserved: 0n } })
      expect(await reserveFirst('a', { minOffset: 10 })).toMatchObject({ kind: 'admitted' })
      expect(await reserveFirst('b', { units: 59n })).toMatchObject({
        kind: 'admitted',
        taken: { used: 40n, reserved: 60n },
      })
      expect(await reserveFirst('c')).toMatchObject({ kind: 'denied' })
      expect(await reserve('d', { minOffset: farOffset })).toEqual(behind)
      expect(await readTaken(farOffset)).toEqual({
        kind: 'taken',
        document: '{}',
        taken: { used: 40n, reserved: 60n },
      })
      expect(await reserveFirst('e', { document: 'another' })).toEqual(behind)
    })

    it('wait for counters while expired ones may have usage in transit', async () => {
      await publishAt(hot(), at)
      await expire(await reserveFor(1, 'a', 60n))
      for (let asked = 0; asked < 2; asked += 1) {
        expect(await reserveFirst('b')).toEqual({ kind: 'behind' })
        expect(await readTaken(farOffset)).toEqual({ kind: 'behind' })
      }
      expect(await readTaken(0)).toMatchObject({ taken: { used: 0n, reserved: 0n } })
      expect(await reserveFirst('b', { minOffset: 0, units: 100n })).toMatchObject({
        kind: 'admitted',
        taken: { used: 0n, reserved: 100n },
      })
      expect(await reserveFirst('c')).toMatchObject({ kind: 'denied' })
    })

    it('do not wait for those whose usage was counted, before or after they expired', async () => {
      await publishAt(hot(), at)
      const expiryMs = await reserveFor(1_000, 'in time', 20n)
      await count(10, 20n, { settled: ['in time'] })
      for (const id of ['late', 'late elsewhere']) await reserveFor(500, id, 20n)
      await expire(expiryMs)
      await count(20, 30n, { settled: ['late'] })
      expect(await reserveFirst('a')).toEqual({ kind: 'behind' })
      await hot().settleReservations({
        space: at.space,
        partition,
        settled: [{ subject: at.subject, scope: at.scope, reservationId: 'late elsewhere' }],
        countedIn: { partition: 1, nextOffset: 50 },
      })
      expect(await readTaken(farOffset)).toMatchObject({ taken: { used: 50n, reserved: 0n } })
      expect(await reserveFirst('a', { units: 50n })).toMatchObject({
        kind: 'admitted',
        taken: { used: 50n, reserved: 50n },
      })
    })

    it('wait for an expired one, however many used ones precede it', async () => {
      await publishAt(hot(), at)
      const used = ids(expiredPerStepMax + 5)
      await Promise.all(used.map((id) => reserveFor(1_500, id)))
      await count(10, 1n, { settled: used })
      await expire(await reserveFor(1_500, 'on its way'))
      expect(await reserveFirst('a')).toEqual({ kind: 'behind' })
      expect(await readTaken(farOffset)).toEqual({ kind: 'behind' })
      expect(await reserveFirst('a', { minOffset: 10 })).toMatchObject({
        kind: 'admitted',
        taken: { used: 1n, reserved: 1n },
      })
    })

    it('wait for counters again once the place is swept, partly or completely', async () => {
      await publishAt(hot(), at)
      const expiryMs = await reserveFor(1_000, 'used')
      await reserveFor(500, 'on its way')
      await count(10, 1n, { settled: ['used'] })
      await expire(expiryMs)
      expect(await sweep(expiryMs + 1, 1)).toBeGreaterThan(0)
      expect(await reserveFirst('a')).toEqual({ kind: 'behind' })
      expect(await readTaken(farOffset)).toEqual({ kind: 'behind' })
      while ((await sweep(expiryMs + 1)) > 0);
      expect(await reserveFirst('a')).toEqual({ kind: 'behind' })
      expect(await reserveFirst('a', { minOffset: 10 })).toMatchObject({ kind: 'admitted' })
      expect(await reserveFirst('b')).toMatchObject({ kind: 'admitted' })
    })

    it('wait for counters again once the state is lost', async () => {
      await publishAt(hot(), at)
      await reserve('a', { isReservedFirst: true })
      expect(await reserveFirst('b')).toMatchObject({ kind: 'admitted' })
      await under().lose()
      await publishAt(hot(), at)
      expect(await reserveFirst('c')).toEqual({ kind: 'behind' })
      expect(await readTaken(farOffset)).toEqual({ kind: 'behind' })
      expect(await readTaken(0)).toMatchObject({ taken: { used: 0n, reserved: 0n } })
    })
  })

  describe('reservations that are forgotten', () => {
    it('free their room and id at once, and keep the place known', async () => {
      await publishAt(hot(), at)
      const few = { reservationsMax: 2, isReservedFirst: true }
      for (const id of ['a', 'b']) await reserve(id, { ...few, units: 10n })
      expect(await reserve('c', few)).toEqual({ kind: 'full' })
      await count(10, 9n, { settled: ['a', 'b', 'unknown', 'a'], isForgotten: true })
      expect(await readTaken(farOffset)).toMatchObject({ taken: { used: 9n, reserved: 0n } })
      expect(await reserveFirst('a', { ...few, units: 90n })).toMatchObject({
        units: 90n,
        taken: { used: 9n, reserved: 90n },
      })
      expect(await reserveFirst('c', few)).toMatchObject({ kind: 'admitted' })
    })

    it('keep their place until the last one would have expired', async () => {
      await publishAt(hot(), at)
      const expiryMs = await reserveFor(60_000, 'a')
      await count(10, 1n, { settled: ['a'], isForgotten: true })
      expect(await sweep(expiryMs)).toBe(0)
      expect(await readTaken(farOffset)).toMatchObject({ kind: 'taken' })
      expect(await sweep(expiryMs + 1)).toBe(1)
      expect(await readTaken(farOffset)).toEqual({ kind: 'behind' })
    })

    it('are recorded like those of other partitions', async () => {
      await publishAt(hot(), at)
      await reserve('a', { units: 100n })
      await hot().settleReservations({
        space: at.space,
        partition,
        settled: [{ subject: at.subject, scope: at.scope, reservationId: 'a', isForgotten: true }],
        countedIn: { partition: 1, nextOffset: 50 },
      })
      const reading = (readAt: number, amount: bigint) => ({
        elsewhere: { amount, appliedOffsets: new Map([[1, readAt]]) },
      })
      expect(await reserve('a', reading(49, 0n))).toEqual({ kind: 'behind' })
      expect(await reserve('a', reading(50, 99n))).toMatchObject({ kind: 'admitted', units: 1n })
    })
  })

  describe('the used and reserved amount', () => {
    it('is read with the document, also by read-only processes', async () => {
      await reserve('a', { document: undefined, units: 5n, isReservedFirst: true })
      const reader = await under().openReader()
      const query = { at, series: 'calls', windowId: 'w', minOffset: farOffset }
      const taken = { used: 0n, reserved: 5n }
      expect(await reader.readTaken(query)).toEqual({ kind: 'taken', document: undefined, taken })
      await hot().putEntry(at, {
        version: 1,
        document: '{"granted":"größer"}',
        windows: [{ id: 'w', fromSecond: 0, toSecond: 1_000 }],
      })
      await count(10, 2n ** 64n, { settled: ['a'], isForgotten: true })
      await count(20, 3n, { scope: '' })
      await reserve('b', { document: '{"granted":"größer"}', units: 2n ** 61n, cap: null })
      await nextTurn()
      expect(await reader.readTaken(query)).toEqual({
        kind: 'taken',
        document: '{"granted":"größer"}',
        taken: { used: 2n ** 64n + 3n, reserved: 2n ** 61n },
      })
      const ofNothing = { ...query, minOffset: 0 }
      for (const more of [{ series: 'tokens' }, { windowId: 'x' }]) {
        expect(await reader.readTaken({ ...ofNothing, ...more })).toMatchObject({
          taken: { used: 0n, reserved: 2n ** 61n },
        })
      }
      await reader.close()
    })

    it.each([expiredPerReadMax, expiredPerReadMax + 50])(
      'omits the first expired reservations, of %d, until a reserving step drops all',
      async (expiredTotal) => {
        const units = 2n ** 61n
        await publishAt(hot(), at)
        await reserveFor(60_000, 'stays', 7n)
        const expiries = await Promise.all(
          ids(expiredTotal).map((id) => reserveFor(1_500, id, units)),
        )
        await expire(Math.max(...expiries))
        const told = 7n + BigInt(expiredTotal - expiredPerReadMax) * units
        for (let asked = 0; asked < 2; asked += 1) {
          expect(await readTaken()).toMatchObject({ taken: { used: 0n, reserved: told } })
          expect(await readTaken(farOffset)).toEqual({ kind: 'behind' })
        }
        expect(await reserve('all but those', { units: 93n })).toMatchObject({
          kind: 'admitted',
          taken: { used: 0n, reserved: 100n },
        })
        expect(await readTaken()).toMatchObject({ taken: { used: 0n, reserved: 100n } })
      },
    )

    it('may lack usage while more have expired than a read checks, whether used or not', async () => {
      await publishAt(hot(), at)
      const used = ids(expiredPerReadMax)
      const expiries = await Promise.all(used.map((id) => reserveFor(1_500, id)))
      await count(10, 1n, { settled: used })
      const taken = { used: 1n, reserved: 0n }
      expect(await readTaken(farOffset)).toMatchObject({ taken })
      await expire(Math.max(...expiries))
      expect(await readTaken(farOffset)).toEqual({ kind: 'behind' })
      expect(await readTaken(10)).toMatchObject({ taken })
      expect(await reserveFirst('a')).toMatchObject({ kind: 'admitted' })
      expect(await readTaken(farOffset)).toMatchObject({ taken: { used: 1n, reserved: 1n } })
    })

    it('is read for several concurrent queries, each by its own parameters', async () => {
      await publishAt(hot(), at)
      await count(10, 5n)
      const query = { at, series: 'calls', windowId: 'w', minOffset: 10 }
      const queries = ids(500).flatMap(() => [
        query,
        { ...query, windowId: 'x' },
        { ...query, minOffset: farOffset },
      ])
      const readings = await Promise.all(queries.map(async (each) => hot().readTaken(each)))
      const document = '{}'
      expect(readings).toEqual(
        ids(500).flatMap(() => [
          { kind: 'taken', document, taken: { used: 5n, reserved: 0n } },
          { kind: 'taken', document, taken: { used: 0n, reserved: 0n } },
          { kind: 'behind' },
        ]),
      )
    })

    it('is read for many places at once', async () => {
      const places = Array.from({ length: 500 }, (_, number) => ({
        ...at,
        subject: `s${number}`,
        partition: number % 3,
      }))
      const isReserved = (number: number) => number % 2 === 0
      await Promise.all(
        places.map(async (place, number) => {
          if (!isReserved(number)) return
          await reserve('a', {
            at: place,
            document: undefined,
            isReservedFirst: true,
            units: BigInt(number) + 1n,
            cap: null,
          })
        }),
      )
      const readings = await Promise.all(
        places.map(async (place) =>
          hot().readTaken({ at: place, series: 'calls', windowId: 'w', minOffset: 1 }),
        ),
      )
      expect(readings).toEqual(
        places.map((_, number) => {
          if (!isReserved(number)) return { kind: 'behind' }
          const taken = { used: 0n, reserved: BigInt(number) + 1n }
          return { kind: 'taken', document: undefined, taken }
        }),
      )
    })
  })
}
