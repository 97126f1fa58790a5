import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { HotState } from '../hot-state/hot-state.ts'
import { expiredPerStepMax, type ReserveOutcome } from '../hot-state/reservations.ts'
import type { HotStateUnderTest } from './hot-state-under-test.ts'
import { nothingExpired } from './nothing-expired.ts'
import {
  at,
  countAt,
  ids,
  partition,
  publishAt,
  request,
  window,
  type Batch,
} from './reserved-place.ts'
import { describeHeldParts } from './held-parts-contract.ts'
import { describeReservedBySeries } from './reserved-by-series-contract.ts'
import { describeReservedFirst } from './reserved-first-contract.ts'
import { describeReservedTogether } from './reserved-together-contract.ts'
import { describeReservationsAgainstModel } from './reservations-against-model.ts'

/** Returns the used and reserved units without changing anything. */
async function taken(hot: HotState): Promise<{ used: bigint; reserved: bigint }> {
  const outcome = await hot.reserve(request('never admitted', { cap: -1n }))
  if (outcome.kind !== 'denied') throw new Error(`It was not denied but ${outcome.kind}`)
  return outcome.taken
}

function kinds(outcomes: readonly ReserveOutcome[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { kind } of outcomes) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

export function describeReservations(under: () => HotStateUnderTest): void {
  describeReservationsAgainstModel(under)
  describeReservedFirst(under)
  describeReservedBySeries(under)
  describeHeldParts(under)
  describeReservedTogether(under)

  const hotState = () => under().hot

  const publish = (subject = at.subject) => publishAt(hotState(), { ...at, subject })
  const count = (...batch: Batch) => countAt(hotState(), ...batch)

  describe('reservations', () => {
    it('are admitted up to the cap, however many are requested at once', async () => {
      await publish()
      const outcomes = await Promise.all(ids(1_000).map((id) => hotState().reserve(request(id))))
      expect(kinds(outcomes)).toEqual({ admitted: 100, denied: 900 })
      expect(await taken(hotState())).toEqual({ used: 0n, reserved: 100n })
    })

    it('count together with the usage of all subjects in the window, here and elsewhere', async () => {
      const other = '4:prov_other'
      await Promise.all([publish(), publish(other)])
      await count(10, 10n)
      await count(20, 20n, { scope: '' })
      await count(30, 30n, { subject: other })
      const subjects = [at.subject, other]
      const elsewhere = { amount: 30n, appliedOffsets: new Map([[1, 5]]) }
      const reserve = (id: string, units: bigint) =>
        hotState().reserve(request(id, { subjects, elsewhere, units }))
      expect(await reserve('too many', 11n)).toEqual({
        kind: 'denied',
        taken: { used: 60n, reserved: 0n },
      })
      expect(await reserve('first', 9n)).toMatchObject({
        kind: 'admitted',
        units: 9n,
        taken: { used: 60n, reserved: 9n },
      })
      expect(await reserve('too many', 2n)).toMatchObject({ kind: 'denied' })
      expect(await reserve('last', 1n)).toMatchObject({ taken: { used: 60n, reserved: 10n } })
      const anotherWindow = request('other', { windowId: 'x', units: 90n })
      expect(await hotState().reserve(anotherWindow)).toMatchObject({ kind: 'admitted' })
      const withoutCap = request('unlimited', { cap: null, units: 2n ** 61n })
      expect(await hotState().reserve(withoutCap)).toMatchObject({ kind: 'admitted' })
    })

    it('end in the step that counts their usage, once', async () => {
      await publish()
      for (const id of ['a', 'b', 'c']) await hotState().reserve(request(id, { units: 30n }))
      expect(await count(10, 7n, { settled: ['a', 'c', 'unknown', 'a'] })).toBe('applied')
      expect(await taken(hotState())).toEqual({ used: 7n, reserved: 30n })
      expect(await count(10, 7n, { settled: ['b'] })).toBe('fenced')
      expect(await count(20, 1n, { settled: ['a'] })).toBe('applied')
      expect(await taken(hotState())).toEqual({ used: 8n, reserved: 30n })
    })

    it('are returned by their id until they expire, used or not', async () => {
      await publish()
      const first = await hotState().reserve(request('a', { units: 60n }))
      const again = await hotState().reserve(request('a', { units: 70n, ttlMs: 1 }))
      expect(again).toEqual(first)
      await count(10, 100n, { settled: ['a'] })
      expect(await hotState().reserve(request('a'))).toEqual({
        ...first,
        taken: { used: 100n, reserved: 0n },
      })
    })

    it('release their units once', async () => {
      await publish()
      for (const id of ['a', 'b']) await hotState().reserve(request(id, { units: 50n }))
      await count(10, 50n, { settled: ['b'] })
      const release = (id: string) => hotState().releaseReservation(at, id)
      expect(await release('a')).toBe(true)
      expect([await release('a'), await release('b'), await release('c')]).toEqual([
        false,
        false,
        false,
      ])
      expect(await taken(hotState())).toEqual({ used: 50n, reserved: 0n })
      expect(await hotState().reserve(request('a', { units: 50n }))).toMatchObject({
        kind: 'admitted',
      })
    })

    it('end when they expire, however many at once', async () => {
      await publish()
      const many = ids(expiredPerStepMax * 2 + 1)
      const reserve = (id: string) => hotState().reserve(request(id, { cap: null, ttlMs: 1_000 }))
      const outcomes = await Promise.all(many.map(reserve))
      await hotState().reserve(request('stays', { cap: null }))
      const expiries = outcomes.map((each) => (each.kind === 'admitted' ? each.expiresAtMs : NaN))
      await sleep(Math.max(...expiries) - Date.now() + 50)
      expect(await hotState().releaseReservation(at, many[0]!)).toBe(false)
      const again = request(many[0]!, { units: 99n })
      expect(await hotState().reserve(again)).toMatchObject({
        kind: 'admitted',
        units: 99n,
        taken: { used: 0n, reserved: 100n },
      })
    })

    it('wait for counters that have not reached the required offset', async () => {
      await publish()
      const behind = request('a', { minOffset: 10 })
      expect(await hotState().reserve(behind)).toEqual({ kind: 'behind' })
      await count(10, 100n)
      expect(await hotState().reserve(behind)).toMatchObject({ kind: 'denied' })
    })

    it('are refused to callers that read a document that is no longer published', async () => {
      const document = '{"customer":"größer"}'
      const reserve = (read: string | undefined) =>
        hotState().reserve(request('a', { document: read }))
      expect(await reserve(document)).toEqual({ kind: 'behind' })
      await hotState().putEntry(at, { version: 1, document, windows: [window] })
      for (const read of [undefined, '{}', `${document} `]) {
        expect(await reserve(read)).toEqual({ kind: 'behind' })
      }
      expect(await reserve(document)).toMatchObject({ kind: 'admitted' })
      await hotState().putEntry(at, { version: 2, document: '{}', windows: [window] })
      expect(await reserve(document)).toEqual({ kind: 'behind' })
      await hotState().deleteEntry(at)
      expect(await reserve('{}')).toEqual({ kind: 'behind' })
      expect(await reserve(undefined)).toMatchObject({ kind: 'admitted', taken: { reserved: 1n } })
    })

    it('end in the step that publishes what they held, and in no earlier one', async () => {
      await publish()
      for (const id of ['a', 'b', 'c']) await hotState().reserve(request(id, { units: 30n }))
      const put = (version: number, document: string, ended: readonly string[]) => {
        const entry = { version, document, windows: [window], endedReservations: ended }
        const { subject, scope, space } = at
        return hotState().putEntries(space, partition, [
          { subject: '4:prov_other', scope, version, document, windows: [window] },
          { subject, scope, ...entry },
        ])
      }
      await put(3, '{"cap":70}', ['a', 'unknown'])
      const reserve = (id: string, document: string) =>
        hotState().reserve(request(id, { document, cap: 70n, units: 10n }))
      expect(await reserve('d', '{"cap":70}')).toMatchObject({ taken: { reserved: 70n } })
      await put(2, '{"cap":100}', ['b'])
      expect(await reserve('e', '{"cap":70}')).toMatchObject({ kind: 'denied' })
      await put(3, '{"cap":70}', ['a'])
      await put(4, '{"cap":40}', ['b', 'c'])
      expect(await reserve('e', '{"cap":40}')).toMatchObject({ taken: { reserved: 20n } })
      // The id may be used again.
      expect(await reserve('a', '{"cap":40}')).toMatchObject({ taken: { reserved: 30n } })
    })

    it('that were used in another partition count against callers that read it earlier', async () => {
      await publish()
      const settle = (reservationId: string, nextOffset: number) =>
        hotState().settleReservations({
          space: 'live',
          partition,
          settled: [{ subject: at.subject, scope: at.scope, reservationId }],
          countedIn: { partition: 1, nextOffset },
        })
      const reserve = (id: string, readAt: number, amount: bigint) =>
        hotState().reserve(
          request(id, { elsewhere: { amount, appliedOffsets: new Map([[1, readAt]]) } }),
        )
      await hotState().reserve(request('a', { units: 100n }))
      await settle('unknown', 70)
      expect(await reserve('b', 40, 0n)).toMatchObject({ kind: 'denied' })
      await settle('a', 50)
      await settle('a', 60)
      expect(await reserve('b', 49, 0n)).toEqual({ kind: 'behind' })
      expect(await reserve('b', 50, 100n)).toMatchObject({ kind: 'denied' })
      expect(await reserve('b', 50, 99n)).toMatchObject({ kind: 'admitted' })
    })

    it('that were used in another partition do not matter to callers that do not read it', async () => {
      await publish()
      await publish()
      const reserve = (id: string, appliedOffsets: readonly (readonly [number, number])[]) =>
        hotState().reserve(
          request(id, { elsewhere: { amount: 0n, appliedOffsets: new Map(appliedOffsets) } }),
        )
      await reserve('a', [])
      await hotState().settleReservations({
        space: 'live',
        partition,
        settled: [{ subject: at.subject, scope: at.scope, reservationId: 'a' }],
        countedIn: { partition: 1, nextOffset: 50 },
      })
      expect(await reserve('b', [])).toMatchObject({ kind: 'admitted' })
      expect(await reserve('c', [[2, 0]])).toMatchObject({ kind: 'admitted' })
      // As soon as the caller reads it, usage counted there must be included.
      const readBoth = (readAt: number) =>
        reserve('d', [
          [2, 0],
          [1, readAt],
        ])
      expect(await readBoth(0)).toEqual({ kind: 'behind' })
      expect(await readBoth(49)).toEqual({ kind: 'behind' })
      expect(await readBoth(50)).toMatchObject({ kind: 'admitted' })
    })

    it('are stored up to a maximum number', async () => {
      await publish()
      const reserve = (id: string) => hotState().reserve(request(id, { reservationsMax: 2 }))
      for (const id of ['a', 'b']) await reserve(id)
      expect(await reserve('c')).toEqual({ kind: 'full' })
      expect(await reserve('a')).toMatchObject({ kind: 'admitted' })
      await hotState().releaseReservation(at, 'a')
      expect(await reserve('c')).toMatchObject({ kind: 'admitted' })
    })

    it('are separate by subject, scope, partition and space', async () => {
      for (const more of [{}, { subject: 's' }, { scope: '' }, { partition: 4 }, { space: 'x' }]) {
        const place = { ...at, ...more }
        await hotState().putEntry(place, { version: 1, document: '{}', windows: [window] })
        const reserve = (id: string) =>
          hotState().reserve(request(id, { at: place, subjects: [place.subject], units: 100n }))
        expect(await reserve('a')).toMatchObject({ kind: 'admitted' })
        expect(await reserve('b')).toMatchObject({ kind: 'denied' })
      }
    })

    it.each([53n, 62n, 63n, 64n, 90n])('are exact around 2^%d', async (bits) => {
      await publish()
      const used = 2n ** bits - 3n
      await count(10, used)
      const reserve = (id: string, cap: bigint, amount: bigint) =>
        hotState().reserve(
          request(id, { cap, units: 2n, elsewhere: { amount, appliedOffsets: new Map() } }),
        )
      expect(await reserve('a', used + 1n, 0n)).toEqual({
        kind: 'denied',
        taken: { used, reserved: 0n },
      })
      expect(await reserve('a', -1n, -used - 2n)).toMatchObject({ kind: 'denied' })
      expect(await reserve('a', 0n, -used - 2n)).toMatchObject({ kind: 'admitted' })
      expect(await reserve('b', 2n * used + 3n, used)).toMatchObject({ kind: 'denied' })
      expect(await reserve('b', 2n * used + 4n, used)).toMatchObject({
        taken: { used, reserved: 4n },
      })
    })

    it('refuse invalid amounts and lifetimes', async () => {
      for (const more of [{ units: 0n }, { units: -1n }, { units: 2n ** 62n }, { ttlMs: 0 }]) {
        await expect(hotState().reserve(request('a', more))).rejects.toThrow(RangeError)
      }
    })

    it('are swept when the last one of a place has expired', async () => {
      await publish()
      await hotState().reserve(request('stays'))
      const gone = { ...at, subject: 'gone' }
      let lastExpiryMs = 0
      for (const id of ids(5)) {
        const ofNobody = { at: gone, document: undefined, ttlMs: 1 }
        const outcome = await hotState().reserve(request(id, ofNobody))
        if (outcome.kind === 'admitted') lastExpiryMs = outcome.expiresAtMs
      }
      const limits = { ...nothingExpired, keysMax: 2 }
      const sweep = (reservationsExpiredBeforeMs: number) =>
        hotState().sweep('live', partition, { ...limits, reservationsExpiredBeforeMs })
      expect(await sweep(lastExpiryMs)).toBe(0)
      let sweptTotal = 0
      for (let calls = 0; calls < 10; calls += 1) sweptTotal += await sweep(lastExpiryMs + 1)
      expect(sweptTotal).toBeGreaterThan(0)
      expect(await taken(hotState())).toEqual({ used: 0n, reserved: 1n })
    })
  })
}
