import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { expiredPerStepMax, type ReserveRequest, type UsedPart } from '../hot-state/reservations.ts'
import type { HotStateUnderTest } from './hot-state-under-test.ts'
import { at, ids, partition, publishAt, request } from './reserved-place.ts'

const wallet = { ...at, subject: 'wallet:4:prov_user', scope: 'credits' }
const together = { subject: wallet.subject, scope: wallet.scope }

/** Tests of reservations that are used in parts, extended, or made in a batch. */
export function describeHeldParts(under: () => HotStateUnderTest): void {
  const hot = () => under().hot
  const publish = async () => {
    for (const place of [at, wallet]) await publishAt(hot(), place)
  }
  const reservedAt = async (place: typeof at, series: string) => {
    const reading = await hot().readTaken({ at: place, series, windowId: 'w', minOffset: 0 })
    if (reading.kind !== 'taken') throw new Error(`The place is ${reading.kind}`)
    return reading.taken.reserved
  }
  const inWallet = (units: bigint): Pick<ReserveRequest, 'together'> => {
    const { reservationId: _id, ttlMs: _ttlMs, ...place } = request('none')
    const credits = { at: wallet, subjects: [wallet.subject], series: 'credits', units }
    return { together: { ...place, ...credits, isReservedFirst: true } }
  }
  const ofSeries = (id: string, tokens: bigint, tools: bigint, more: object = {}) => {
    const bySeries = { furtherUnits: new Map([['tools', tools]]), furtherCaps: [] }
    return hot().reserve(request(id, { series: 'tokens', units: tokens, bySeries, ...more }))
  }
  const part = (offset: number, units: Readonly<Record<string, bigint>>): UsedPart => {
    const bySeries = new Map(Object.entries(units))
    return { onEvery: units['calls'] ?? 0n, bySeries, offset, together }
  }
  const settle = async (reservationId: string, used: UsedPart | undefined) => {
    const expectedOffset = await hot().appliedOffset(at.space, partition)
    const settled = { subject: at.subject, scope: at.scope, reservationId }
    await hot().apply({
      ...{ space: at.space, partition, expectedOffset, nextOffset: expectedOffset + 1 },
      ...{ marks: [], increments: [] },
      settled: [used === undefined ? settled : { ...settled, part: used }],
    })
  }

  describe('reservations that are used in parts', () => {
    it('keep the rest of each series, at least 0, until all of it is used', async () => {
      await publish()
      await ofSeries('a', 10n, 4n, inWallet(8n))
      await settle('a', part(0, { tokens: 3n, other: 9n }))
      expect([await reservedAt(at, 'tokens'), await reservedAt(at, 'tools')]).toEqual([7n, 4n])
      await settle('a', part(1, { tokens: 100n, tools: 1n }))
      expect([await reservedAt(at, 'tokens'), await reservedAt(at, 'tools')]).toEqual([0n, 3n])
      expect(await reservedAt(wallet, 'credits')).toBe(8n)
      await settle('a', part(2, { tools: 3n }))
      expect(await reservedAt(at, 'tools')).toBe(0n)
      // The second place has nothing to wait for any more, and the reservation is remembered.
      expect(await reservedAt(wallet, 'credits')).toBe(0n)
      expect(await ofSeries('a', 10n, 4n)).toMatchObject({ kind: 'admitted' })
      expect(await reservedAt(at, 'tokens')).toBe(0n)
    })

    it('keep the rest of units on every series, and release it', async () => {
      await publish()
      await hot().reserve(request('a', { units: 10n }))
      await settle('a', part(0, { calls: 4n, tokens: 6n }))
      expect(await reservedAt(at, 'calls')).toBe(6n)
      expect(await hot().releaseReservation(at, 'a', together)).toBe(true)
      expect(await reservedAt(at, 'calls')).toBe(0n)
    })

    it('hold at the second place what a first place without units remembers', async () => {
      await publish()
      await hot().reserve(request('a', { units: 0n, cap: null, ...inWallet(5n) }))
      await settle('a', part(0, { calls: 1n }))
      expect(await reservedAt(wallet, 'credits')).toBe(5n)
      const again = await hot().reserve(request('a', { units: 0n, cap: null, ...inWallet(7n) }))
      expect(again).toMatchObject({ kind: 'admitted', units: 0n })
      expect(await hot().releaseReservation(at, 'a', together)).toBe(true)
      expect(await reservedAt(wallet, 'credits')).toBe(0n)
    })

    it('give units to a reservation that leaves the rest', async () => {
      await publish()
      await hot().reserve(request('a', { units: 10n, cap: 12n }))
      const of = (id: string, units: bigint) =>
        hot().reserve(
          request(id, { units, cap: 12n, takes: 'rest', replaces: 'a', keepsRest: true }),
        )
      expect(await of('first', 4n)).toMatchObject({ units: 4n, taken: { reserved: 10n } })
      expect(await of('first', 4n)).toMatchObject({ units: 4n, taken: { reserved: 10n } })
      expect(await of('second', 9n)).toMatchObject({ units: 8n, taken: { reserved: 12n } })
      expect(await of('third', 1n)).toMatchObject({ kind: 'denied' })
      expect(await hot().releaseReservation(at, 'a')).toBe(false)
    })

    it('are reduced only once by each record of another partition', async () => {
      await publish()
      await hot().reserve(request('a', { units: 10n }))
      const elsewhere = (nextOffset: number, ...offsets: number[]) =>
        hot().settleReservations({
          ...{ space: at.space, partition },
          settled: offsets.map((offset) => ({
            ...{ subject: at.subject, scope: at.scope, reservationId: 'a' },
            part: part(offset, { calls: 1n }),
          })),
          countedIn: { partition: 9, nextOffset },
        })
      await elsewhere(8, 3, 5)
      expect(await reservedAt(at, 'calls')).toBe(8n)
      await elsewhere(8, 3, 5)
      // The partition was counted again, in batches that end elsewhere.
      await elsewhere(7, 3, 5, 6)
      expect(await reservedAt(at, 'calls')).toBe(7n)
      const appliedOffsets = new Map([[9, 6]])
      const late = await hot().reserve(request('b', { elsewhere: { amount: 2n, appliedOffsets } }))
      expect(late).toEqual({ kind: 'behind' })
    })
  })

  describe('reservations that are extended', () => {
    const extend = (id: string, ttlMs: number, lifetimeMsMax = 3_600_000) =>
      hot().extendReservation({ at, reservationId: id, ttlMs, lifetimeMsMax, together })

    it('hold at both places beyond their first expiry', async () => {
      await publish()
      await hot().reserve(request('a', { ttlMs: 300, ...inWallet(5n) }))
      const outcome = await extend('a', 60_000)
      if (outcome.kind !== 'extended') throw new Error(`It is ${outcome.kind}`)
      expect(outcome.expiresAtMs).toBeGreaterThan(Date.now() + 50_000)
      expect(await extend('a', 1)).toEqual(outcome)
      await sleep(310)
      expect([await reservedAt(at, 'calls'), await reservedAt(wallet, 'credits')]).toEqual([1n, 5n])
      expect(await hot().reserve(request('a'))).toMatchObject({ expiresAtMs: outcome.expiresAtMs })
    })

    it('have a maximum lifetime from their creation, however often they are extended', async () => {
      await publish()
      await hot().reserve(request('a', { ttlMs: 1_000 }))
      expect(await extend('a', 50_000, 60_000)).toMatchObject({ kind: 'extended' })
      await sleep(20)
      const refused = await extend('a', 60_000, 60_000)
      if (refused.kind !== 'too-long') throw new Error(`It is ${refused.kind}`)
      expect(refused.latestMs).toBeLessThan(Date.now() + 60_000)
    })

    it('must be held', async () => {
      await publish()
      for (const id of ['used', 'released', 'expired']) {
        await hot().reserve(request(id, { ttlMs: id === 'expired' ? 1 : 60_000 }))
      }
      await settle('used', undefined)
      await hot().releaseReservation(at, 'released')
      await sleep(5)
      for (const id of ['used', 'released', 'expired', 'unknown']) {
        expect([id, await extend(id, 1_000)]).toEqual([id, { kind: 'gone' }])
      }
    })
  })

  describe('a batch of reservations', () => {
    const units = (id: string, of: bigint, more: Partial<ReserveRequest> = {}) =>
      request(id, { units: of, cap: 10n, ...more })

    it('checks each beside those before it, and may drop all', async () => {
      await publish()
      const three = [units('a', 6n), units('b', 5n), units('c', 4n)]
      const kinds = async (mode: 'each' | 'all-or-none') => {
        const outcomes = await hot().reserveBatch(three, mode)
        return outcomes === 'behind' ? outcomes : outcomes.map(({ kind }) => kind)
      }
      expect(await kinds('all-or-none')).toEqual(['admitted', 'denied', 'admitted'])
      expect(await reservedAt(at, 'calls')).toBe(0n)
      expect(await kinds('each')).toEqual(['admitted', 'denied', 'admitted'])
      expect(await reservedAt(at, 'calls')).toBe(10n)
      // Those that were held before stay.
      expect(await kinds('all-or-none')).toEqual(['admitted', 'denied', 'admitted'])
      expect(await reservedAt(at, 'calls')).toBe(10n)
    })

    it('holds nothing of a refused batch that has to drop very many expired ones', async () => {
      await publish()
      const ofWallet = { at: wallet, subjects: [wallet.subject], series: 'credits', cap: null }
      const many = ids(expiredPerStepMax + 1, 'old')
      const reserve = (id: string) => hot().reserve(request(id, { ...ofWallet, ttlMs: 1_500 }))
      await Promise.all(many.map(reserve))
      await sleep(1_550)
      // Only the second request is paid by the wallet.
      const requests = [units('a', 6n), units('b', 5n, inWallet(1n))]
      const outcomes = await hot().reserveBatch(requests, 'all-or-none')
      expect(outcomes).toMatchObject([{ kind: 'admitted' }, { kind: 'denied' }])
      expect(await reservedAt(at, 'calls')).toBe(0n)
      expect(await reservedAt(wallet, 'credits')).toBe(0n)
      expect(await hot().releaseReservation(at, 'a')).toBe(false)
    })

    it('drops a reservation again whose id an expired one had', async () => {
      await publish()
      await hot().reserve(units('a', 1n, { ttlMs: 1 }))
      await sleep(5)
      await hot().reserveBatch([units('a', 6n), units('b', 5n)], 'all-or-none')
      expect(await reservedAt(at, 'calls')).toBe(0n)
    })

    it('waits as a whole, and is of one reading', async () => {
      await publish()
      const late = [units('a', 1n), units('b', 1n, { minOffset: 99 })]
      expect(await hot().reserveBatch(late, 'each')).toBe('behind')
      expect(await reservedAt(at, 'calls')).toBe(0n)
      for (const invalid of [
        [],
        ids(101).map((id) => units(id, 1n)),
        [units('a', 1n), units('b', 1n, { document: '{"other":1}' })],
        [units('a', 1n), units('b', 1n, { at: wallet })],
        [units('@a', 1n)],
        [units('a', 0n)],
      ]) {
        await expect(hot().reserveBatch(invalid, 'each')).rejects.toThrow(RangeError)
      }
    })

    it('waits if one request has read another partition before it counted a reservation of the place', async () => {
      await publish()
      await hot().reserve(units('old', 6n))
      await hot().settleReservations({
        ...{ space: at.space, partition },
        settled: [{ subject: at.subject, scope: at.scope, reservationId: 'old' }],
        countedIn: { partition: 9, nextOffset: 8 },
      })
      const readAt = (offset: number, amount: bigint) => {
        return { elsewhere: { amount, appliedOffsets: new Map([[9, offset]]) } }
      }
      const late = [units('a', 1n, readAt(8, 6n)), units('b', 9n, readAt(7, 0n))]
      for (const requests of [late, late.toReversed()]) {
        expect(await hot().reserveBatch(requests, 'each')).toBe('behind')
      }
      expect(await reservedAt(at, 'calls')).toBe(0n)
      const current = [units('a', 1n, readAt(8, 6n)), units('b', 9n, readAt(9, 6n))]
      const outcomes = await hot().reserveBatch(current, 'each')
      expect(outcomes).toMatchObject([{ kind: 'admitted' }, { kind: 'denied' }])
    })

    it('never exceeds a cap beside a thousand other callers', async () => {
      await publish()
      const cap = 500n
      const alone = ids(1_000).map((id) => hot().reserve(request(id, { cap })))
      const batches = ids(40, 'batch').map((prefix, index) => {
        const requests = ids(10, prefix).map((id) => request(id, { cap, ...inWallet(1n) }))
        return hot().reserveBatch(requests, index % 2 === 0 ? 'each' : 'all-or-none')
      })
      const held = (await Promise.all(alone)).filter(({ kind }) => kind === 'admitted').length
      const admitted = (await Promise.all(batches)).map((outcomes, index) => {
        if (outcomes === 'behind') return 0
        const count = outcomes.filter(({ kind }) => kind === 'admitted').length
        return index % 2 === 0 || count === 10 ? count : 0
      })
      const inBatches = admitted.reduce((sum, count) => sum + count, 0)
      expect(BigInt(held + inBatches)).toBe(await reservedAt(at, 'calls'))
      expect(BigInt(inBatches)).toBe(await reservedAt(wallet, 'credits'))
      expect(held + inBatches).toBeLessThanOrEqual(500)
      expect(held + inBatches).toBeGreaterThan(490)
    })
  })
}
