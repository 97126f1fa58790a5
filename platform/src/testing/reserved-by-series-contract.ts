import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { bucketRangeAt, bucketSpecOf } from '../hot-state/bucket-windows.ts'
import type { FurtherCap, PlaceRequest, ReserveRequest } from '../hot-state/reservations.ts'
import type { HotStateUnderTest } from './hot-state-under-test.ts'
import { at, ids, partition, request } from './reserved-place.ts'

const rolling = { kind: 'rolling', seconds: 18_000 } as const
const week = { kind: 'week' } as const
const specs = [rolling, week].map(bucketSpecOf)
const wallet = { ...at, subject: 'wallet:4:prov_user', scope: 'credits' }

/** Tests of reservations of several series under several caps. */
export function describeReservedBySeries(under: () => HotStateUnderTest): void {
  const hot = () => under().hot
  let now = 0
  beforeEach(() => {
    now = Math.floor(Date.now() / 1_000)
  })
  const publish = async () => {
    const windows = [{ id: 'w', fromSecond: 0, toSecond: now + 86_400 }]
    const entry = { version: 1, document: '{}', windows, buckets: specs }
    for (const place of [at, wallet]) await hot().putEntry(place, entry)
  }
  const count = async (
    uses: Readonly<Record<string, bigint>>,
    { second = now, settled = [] }: { second?: number; settled?: readonly string[] } = {},
  ) => {
    const fence = await hot().appliedOffset(at.space, partition)
    const increments = Object.entries(uses).map(([series, amount]) => {
      return { subject: at.subject, scope: at.scope, series, second, amount }
    })
    await hot().apply({
      space: at.space,
      partition,
      expectedOffset: fence,
      nextOffset: fence + 10,
      marks: [],
      increments,
      settled: settled.map((reservationId) => {
        return { subject: at.subject, scope: at.scope, reservationId }
      }),
    })
  }
  const inWindow = (series: string, cap: bigint): FurtherCap => {
    return { series, cap, within: { windowId: 'w' }, elsewhere: 0n }
  }
  const inBuckets = (series: string, cap: bigint, window: typeof rolling | typeof week) => {
    const { fromBucket } = bucketRangeAt(window, now)
    return { series, cap, within: { form: bucketSpecOf(window), fromBucket }, elsewhere: 0n }
  }
  const reserve = (
    id: string,
    units: Readonly<Record<string, bigint>>,
    furtherCaps: readonly FurtherCap[],
    more: Partial<ReserveRequest> = {},
  ) => {
    const [first, ...others] = Object.entries(units)
    const [series, own] = first!
    const bySeries = { furtherUnits: new Map(others), furtherCaps }
    return hot().reserve(request(id, { units: own, series, bySeries, ...more }))
  }
  const reservedOn = async (series: string, place = at) => {
    const reading = await hot().readTaken({ at: place, series, windowId: 'w', minOffset: 0 })
    if (reading.kind !== 'taken') throw new Error(`The place is ${reading.kind}`)
    return reading.taken.reserved
  }

  describe('reservations by series', () => {
    it('hold different units of several series in one step, each under its own caps', async () => {
      await publish()
      await count({ input: 40n, output: 5n })
      const caps = [inWindow('output', 20n), inBuckets('output', 30n, rolling)]
      expect(await reserve('a', { input: 50n, output: 10n }, caps)).toMatchObject({
        kind: 'admitted',
        units: 50n,
        taken: {
          used: 40n,
          reserved: 50n,
          further: [
            { used: 5n, reserved: 10n },
            { used: 5n, reserved: 10n },
          ],
        },
      })
      expect(await reservedOn('input')).toBe(50n)
      expect(await reservedOn('output')).toBe(10n)
      expect(await reservedOn('tools')).toBe(0n)
      const denied = await reserve('b', { input: 5n, output: 6n }, caps)
      expect(denied).toEqual({
        kind: 'denied',
        taken: {
          used: 40n,
          reserved: 50n,
          further: [
            { used: 5n, reserved: 10n },
            { used: 5n, reserved: 10n },
          ],
        },
      })
      expect(await reserve('c', { input: 11n, output: 5n }, caps)).toMatchObject({ kind: 'denied' })
      expect(await reserve('d', { input: 10n, output: 5n }, caps)).toMatchObject({
        kind: 'admitted',
      })
      expect(await reservedOn('output')).toBe(15n)
    })

    it('count the buckets of a window from its first one on', async () => {
      await publish()
      await count({ input: 7n }, { second: now - 18_000 - 300 })
      await count({ input: 2n }, { second: now - 600 })
      const caps = [inBuckets('input', 10n, rolling), inBuckets('input', 1_000n, week)]
      const outcome = await reserve('a', { input: 8n }, caps)
      expect(outcome).toMatchObject({
        kind: 'admitted',
        taken: { used: 9n, further: [{ used: 2n, reserved: 8n }, { reserved: 8n }] },
      })
      expect(await reserve('b', { input: 1n }, caps)).toMatchObject({ kind: 'denied' })
    })

    it('count usage elsewhere, and every subject of the request', async () => {
      await publish()
      await count({ input: 2n })
      const cap = { ...inBuckets('input', 10n, week), elsewhere: 3n }
      expect(await reserve('a', { input: 6n }, [cap])).toMatchObject({ kind: 'denied' })
      const subjects = [at.subject, 'nobody']
      expect(await reserve('a', { input: 5n }, [cap], { subjects })).toMatchObject({
        kind: 'admitted',
      })
    })

    it('are refused by no cap on a series of which they hold nothing', async () => {
      await publish()
      await count({ output: 50n })
      const caps = [inWindow('output', 20n)]
      expect(await reserve('a', { input: 1n }, caps)).toMatchObject({
        kind: 'admitted',
        taken: { further: [{ used: 50n, reserved: 0n }] },
      })
    })

    it('return all units when they are used, released, replaced or expired', async () => {
      await publish()
      const units = { input: 5n, output: 3n }
      await reserve('used', units, [])
      await count({ input: 1n, output: 1n }, { settled: ['used'] })
      expect(await reserve('used', units, [])).toMatchObject({ kind: 'admitted', units: 5n })
      await reserve('released', units, [])
      expect(await hot().releaseReservation(at, 'released')).toBe(true)
      await reserve('replaced', units, [inWindow('output', 4n)])
      expect(await reservedOn('output')).toBe(3n)
      const replacing = { replaces: 'replaced' }
      const caps = [inWindow('output', 4n)]
      expect(await reserve('b', { input: 1n, output: 4n }, caps, replacing)).toMatchObject({
        kind: 'denied',
      })
      expect(await reserve('b', { input: 1n, output: 2n }, caps, replacing)).toMatchObject({
        kind: 'admitted',
      })
      expect([await reservedOn('input'), await reservedOn('output')]).toEqual([1n, 2n])
      await reserve('expired', units, [], { ttlMs: 1 })
      await sleep(10)
      expect([await reservedOn('input'), await reservedOn('output')]).toEqual([1n, 2n])
      await hot().releaseReservation(at, 'b')
      await reserve('last', { output: 1n }, [])
      expect([await reservedOn('input'), await reservedOn('output')]).toEqual([0n, 1n])
    })

    it('count beside units that are held on every series', async () => {
      await publish()
      await hot().reserve(request('plain', { units: 4n }))
      expect(await reserve('a', { input: 5n }, [], { cap: 8n })).toMatchObject({ kind: 'denied' })
      expect(await reserve('a', { input: 4n }, [], { cap: 8n })).toMatchObject({
        kind: 'admitted',
      })
      expect(await hot().reserve(request('b', { cap: 5n }))).toMatchObject({
        kind: 'admitted',
        taken: { used: 0n, reserved: 5n },
      })
      expect(await reservedOn('input')).toBe(9n)
    })

    it('hold at the second place too, or at neither', async () => {
      await publish()
      const { reservationId: _id, ttlMs: _ttlMs, ...place } = request('none')
      const inWallet = (units: bigint): PlaceRequest => ({
        ...place,
        at: wallet,
        subjects: [wallet.subject],
        series: 'credits',
        units,
        bySeries: { furtherUnits: new Map(), furtherCaps: [inBuckets('credits', 9n, week)] },
      })
      const caps = [inWindow('output', 5n)]
      const over = { together: inWallet(10n) }
      expect(await reserve('a', { input: 1n, output: 1n }, caps, over)).toMatchObject({
        kind: 'denied',
        takenTogether: { used: 0n, reserved: 0n, further: [{ used: 0n, reserved: 0n }] },
      })
      const fits = { together: inWallet(9n) }
      expect(await reserve('a', { input: 1n, output: 6n }, caps, fits)).toMatchObject({
        kind: 'denied',
      })
      expect(await reservedOn('credits', wallet)).toBe(0n)
      expect(await reserve('a', { input: 1n, output: 5n }, caps, fits)).toMatchObject({
        kind: 'admitted',
        takenTogether: { reserved: 9n },
      })
      expect(await hot().releaseReservation(at, 'a', wallet)).toBe(true)
      expect(await reservedOn('credits', wallet)).toBe(0n)
      expect(await reservedOn('output')).toBe(0n)
    })

    it('admit a thousand concurrent callers up to the tightest of their caps', async () => {
      await publish()
      await count({ output: 1n })
      const caps = [
        inWindow('output', 91n),
        inBuckets('output', 200n, rolling),
        inBuckets('input', 10_000n, week),
      ]
      const outcomes = await Promise.all(
        ids(1_000).map((id) => reserve(id, { input: 7n, output: 3n }, caps, { cap: 10_000n })),
      )
      expect(outcomes.filter(({ kind }) => kind === 'admitted')).toHaveLength(30)
      expect(await reservedOn('output')).toBe(90n)
      expect(await reservedOn('input')).toBe(210n)
    })

    it('are refused if they cannot be', async () => {
      const invalid: [Record<string, bigint>, FurtherCap[], Partial<ReserveRequest>][] = [
        [{ input: 1n, output: 0n }, [], {}],
        [{ input: 1n, output: 2n ** 62n }, [], {}],
        [{ input: 1n }, [], { takes: 'rest' }],
        [{ input: 1n, output: 1n }, [], { series: 'output' }],
        [{ input: 1n }, Array.from({ length: 65 }, () => inWindow('input', 1n)), {}],
        [Object.fromEntries(ids(33).map((id) => [id, 1n])), [], {}],
        [
          { input: 1n },
          [{ ...inWindow('input', 1n), within: { form: specs[0]!, fromBucket: 0.5 } }],
          {},
        ],
      ]
      for (const [units, caps, more] of invalid) {
        await expect(reserve('a', units, caps, more)).rejects.toThrow(RangeError)
      }
    })
  })
}
