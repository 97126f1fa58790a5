import { describe, expect, it } from 'vitest'
import type { PlaceRequest, ReserveRequest } from '../hot-state/reservations.ts'
import type { HotStateUnderTest } from './hot-state-under-test.ts'
import { at, countAt, ids, publishAt, request } from './reserved-place.ts'

const second = { ...at, subject: 'wallet:4:prov_user', scope: 'credits' }

/** Tests of reservations at two places, and of units that replace a reservation. */
export function describeReservedTogether(under: () => HotStateUnderTest): void {
  const hot = () => under().hot
  const reserve = (id: string, more: Partial<ReserveRequest> = {}) =>
    hot().reserve(request(id, more))
  const publish = () => Promise.all([at, second].map((place) => publishAt(hot(), place)))
  const atSecond = (more: Partial<PlaceRequest> = {}): PlaceRequest => {
    const { reservationId: _id, ttlMs: _ttlMs, ...place } = request('none')
    return { ...place, at: second, subjects: [second.subject], isReservedFirst: true, ...more }
  }
  const takenAt = async ({ scope, subject } = at) => {
    const place = { ...at, scope, subject }
    const query = { at: place, series: 'calls', windowId: 'w', minOffset: 0 }
    const reading = await hot().readTaken(query)
    if (reading.kind !== 'taken') throw new Error(`The place is ${reading.kind}`)
    return reading.taken
  }
  const reserved = async () => [(await takenAt()).reserved, (await takenAt(second)).reserved]

  describe('reservations at two places', () => {
    it('hold at both places or at neither', async () => {
      await publish()
      expect(await reserve('a', { units: 2n, together: atSecond({ units: 30n }) })).toMatchObject({
        kind: 'admitted',
        units: 2n,
        taken: { used: 0n, reserved: 2n },
        takenTogether: { used: 0n, reserved: 30n },
      })
      const denied = {
        kind: 'denied',
        taken: { used: 0n, reserved: 2n },
        takenTogether: { used: 0n, reserved: 30n },
      }
      expect(await reserve('b', { units: 2n, together: atSecond({ units: 71n }) })).toEqual(denied)
      expect(await reserve('b', { units: 99n, together: atSecond({ units: 1n }) })).toEqual(denied)
      const full = atSecond({ reservationsMax: 1 })
      expect(await reserve('b', { together: full })).toEqual({ kind: 'full' })
      const behind = atSecond({ document: 'another' })
      expect(await reserve('b', { together: behind })).toEqual({ kind: 'behind' })
      expect(await reserved()).toEqual([2n, 30n])
    })

    it('admit as many concurrent requests as the smaller place has room for', async () => {
      await publish()
      const outcomes = await Promise.all(
        ids(1_000).map((id) => reserve(id, { together: atSecond({ units: 3n }) })),
      )
      expect(outcomes.filter(({ kind }) => kind === 'admitted')).toHaveLength(33)
      expect(await reserved()).toEqual([33n, 99n])
    })

    it('are returned by the first place, and hold nothing again at the second', async () => {
      await publish()
      const both = { units: 5n, together: atSecond({ units: 50n }) }
      const first = await reserve('a', both)
      expect(await reserve('a', both)).toEqual(first)
      // A use replaces the reservation of the second place; the first place keeps its own until the use is counted.
      await reserve('use', { ...atSecond({ units: 20n, takes: 'rest', replaces: 'a' }) })
      expect(await reserve('a', both)).toMatchObject({ kind: 'admitted', units: 5n })
      expect(await reserved()).toEqual([5n, 20n])
    })

    it('are released at both places in one step', async () => {
      await publish()
      const both = { units: 5n, together: atSecond({ units: 50n }) }
      await reserve('a', both)
      expect(await hot().releaseReservation(at, 'a', second)).toBe(true)
      expect(await reserved()).toEqual([0n, 0n])
      expect(await hot().releaseReservation(at, 'a', second)).toBe(false)
      expect(await reserve('a', both)).toMatchObject({ kind: 'admitted' })
    })

    it('are refused for places in two partitions', async () => {
      await publish()
      const elsewhere = atSecond({ at: { ...second, partition: at.partition + 1 } })
      await expect(reserve('a', { together: elsewhere })).rejects.toThrow(RangeError)
    })
  })

  describe('units that replace a reservation', () => {
    const use = (id: string, units: bigint, replaces: string) =>
      reserve(id, { units, takes: 'rest', isReservedFirst: true, replaces })

    it('use its room, and take more if there is more', async () => {
      await publish()
      for (const id of ['a', 'b', 'c']) await reserve(id, { units: 30n })
      expect(await use('less', 10n, 'a')).toMatchObject({ kind: 'admitted', units: 10n })
      expect((await takenAt()).reserved).toBe(70n)
      expect(await use('more', 55n, 'b')).toMatchObject({ kind: 'admitted', units: 55n })
      expect((await takenAt()).reserved).toBe(95n)
      expect(await use('as far as it goes', 60n, 'c')).toMatchObject({ units: 35n })
      expect(await takenAt()).toEqual({ used: 0n, reserved: 100n })
    })

    it('end it once, even if the same use is repeated', async () => {
      await publish()
      await reserve('a', { units: 60n })
      await reserve('b', { units: 40n })
      const first = await use('use', 50n, 'a')
      expect(await use('use', 50n, 'a')).toEqual(first)
      expect(await use('another', 50n, 'a')).toMatchObject({ kind: 'admitted', units: 10n })
      expect(await hot().releaseReservation(at, 'a')).toBe(false)
      await countAt(hot(), 10, 50n, { settled: ['use', 'a'], isForgotten: true })
      expect(await takenAt()).toEqual({ used: 50n, reserved: 50n })
    })

    it('keep it if nothing can be taken, and need no additional place', async () => {
      await publish()
      await reserve('a', { units: 60n })
      const over = { isReservedFirst: true, takes: 'rest', replaces: 'a', units: 5n } as const
      expect(await reserve('over', { ...over, cap: 0n })).toMatchObject({ kind: 'denied' })
      expect((await takenAt()).reserved).toBe(60n)
      expect(await reserve('full', { units: 5n, reservationsMax: 1 })).toEqual({ kind: 'full' })
      expect(await reserve('fits', { ...over, reservationsMax: 1 })).toMatchObject({ units: 5n })
      expect((await takenAt()).reserved).toBe(5n)
    })

    it.each([62n, 64n])('are exact around 2^%d', async (bits) => {
      await publish()
      const cap = 2n ** bits - 3n
      await countAt(hot(), 10, cap - 9n)
      await reserve('a', { units: 7n, cap })
      const replacing = { units: 2n ** 61n, takes: 'rest', replaces: 'a', cap } as const
      expect(await reserve('use', replacing)).toMatchObject({ units: 9n })
      expect(await takenAt()).toEqual({ used: cap - 9n, reserved: 9n })
    })
  })
}
