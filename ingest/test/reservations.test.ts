import { setTimeout as sleep } from 'node:timers/promises'
import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { walletAddress, walletEntry } from '@tollgate/domain/wallet/hot-wallet'
import { placeOfReservation } from '@tollgate/schemas/reservation-reference'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  countUsage,
  entitlement,
  offer,
  placeOf,
  productRef,
  publishEntitlement,
} from './entitled-customer.ts'
import { Installation, partitionCount, providerId, type Reply } from './installation.ts'

const walletAt = walletAddress(
  { environment: 'sandbox', providerId, customerRef: entitlement.customerRef },
  partitionCount,
)

type Reservation = { id: string; units: number; expiresAt: string }

describe('reservations', () => {
  let installation: Installation
  let key: string
  beforeEach(async () => {
    installation = await Installation.start({
      clock: { now: () => Date.UTC(2026, 0, 15) },
      settings: {
        TOLLGATE_LIMITS_WAIT_MS: '300',
        TOLLGATE_RESERVATION_SECONDS_MAX: '600',
        TOLLGATE_RESERVATIONS_MAX: '20',
        TOLLGATE_CREDITS_HELD_MAX: '5',
      },
    })
    key = await installation.createKey()
    installation.controlPlane = (request, response) => {
      request.resume()
      response.writeHead(200).end('{"from":"control plane"}')
    }
  })
  afterEach(() => installation.remove())

  const publish = (changes?: Partial<Entitlement>) => publishEntitlement(installation, changes)
  const project = () => countUsage(installation)

  const reserve = (units: number, more: object = {}): Promise<Reply> =>
    installation.post('/v1/sdk/limits', key, {
      customerRef: 'user-1',
      productRef,
      reserve: { units, ttlSeconds: 60 },
      ...more,
    })
  const reservationOf = ({ body }: Reply) => body['reservation'] as Reservation | undefined
  const release = (reservationId: string, by = key) =>
    installation.post('/v1/sdk/limits/release', by, { reservationId })
  const use = (customerRef: string, units: number, more: object = {}) =>
    installation.post('/v1/sdk/usages', key, { customerRef, productRef, units, ...more })

  it('hold units that other checks do not get, under any reference of the customer', async () => {
    await publish()
    const before = Date.now()
    const first = await reserve(4)
    expect(first.body).toEqual({
      withinLimits: true,
      remaining: 6,
      plan: 'pln_1',
      meterName: 'requests',
      reservation: {
        id: expect.stringMatching(/^rsv_/) as unknown,
        units: 4,
        expiresAt: expect.any(String) as unknown,
      },
    })
    const { id, expiresAt } = reservationOf(first)!
    expect(placeOfReservation(id)).toEqual({ customerRef: 'cus_1', productRef })
    expect(Date.parse(expiresAt)).toBeGreaterThanOrEqual(before + 60_000)
    const refused = await reserve(6.000001, { customerRef: 'user-2' })
    expect(refused.body).toEqual({
      withinLimits: false,
      remaining: 6,
      plan: 'pln_1',
      meterName: 'requests',
      ...offer,
    })
    const rest = await reserve(6, { customerRef: 'cus_1' })
    expect(rest.body).toMatchObject({ withinLimits: true, remaining: 0 })
    expect((await reserve(0.000001)).body).toMatchObject({ withinLimits: false, remaining: 0 })
  })

  it('do not affect a check that reserves nothing', async () => {
    await publish()
    await reserve(10)
    const plain = { customerRef: 'user-1', productRef }
    const checked = await installation.post('/v1/sdk/limits', key, plain)
    expect(checked.body).toMatchObject({ withinLimits: true, remaining: 10 })
    expect(checked.body).not.toHaveProperty('reservation')
  })

  it('always succeed without a cap', async () => {
    await publish({ cap: null })
    const given = await reserve(9_000_000_000)
    expect(given.body).toMatchObject({ withinLimits: true, remaining: 999_999 })
    expect(reservationOf(given)?.units).toBe(9_000_000_000)
  })

  it('without a limited meter wait for the counters of all limits, and pass none', async () => {
    const charges = [{ key: 'calls', meterName: 'requests', cap: '3000000' }]
    await publish({ cap: null, charges })
    await use('user-1', 2)
    const waiting = reserve(1)
    await sleep(50)
    await project()
    expect((await waiting).body).toMatchObject({ withinLimits: true, remaining: 0 })
    await use('user-1', 1)
    await project()
    expect((await reserve(1, { meterName: 'unknown' })).body).toMatchObject({
      withinLimits: false,
      blockedBy: { reason: 'cap', limit: 'calls', meterName: 'requests' },
    })
  })

  it("hold credits if a wallet pays, up to half of a wallet's holds", async () => {
    await publish({ cap: null, credit: { creditsPerUnit: 5, currency: 'USD' } })
    const grant = (credits: bigint, version: number) => {
      const wallet = walletEntry({ grantedMicros: credits * 1_000_000n, removedMicros: 0n }, [])
      return installation.hotState.putEntry(walletAt, { version, ...wallet })
    }
    // A wallet that is not published may have been lost.
    await installation.publishAll(['meters'])
    expect((await reserve(1)).status).toBe(503)
    await grant(0n, 0)
    expect((await reserve(1)).body).toMatchObject({ withinLimits: false, creditBalance: 0 })
    await grant(12n, 1)
    const first = await reserve(2)
    expect(first.body).toEqual({
      withinLimits: true,
      remaining: 0,
      plan: 'pln_1',
      meterName: 'requests',
      creditBalance: 2,
      creditsPerUnit: 5,
      currency: 'USD',
      balance: { creditBalance: 2, creditsPerUnit: 5, currency: 'USD', remainingUnits: 0 },
      reservation: expect.objectContaining({ units: 2 }) as unknown,
    })
    expect((await reserve(0.5)).body).toMatchObject({ withinLimits: false, creditBalance: 2 })
    expect((await reserve(9_000_000_000)).body).toMatchObject({ withinLimits: false })
    await release(reservationOf(first)!.id)
    await grant(1_000n, 2)
    for (let number = 0; number < 3; number += 1) expect((await reserve(1)).status).toBe(200)
    expect((await reserve(1)).status).toBe(503)
    expect((await use('user-1', 1)).body['creditDebit']).toMatchObject({ amount: 5 })
  })

  it('are added to acknowledged usage of every reference, for which they wait', async () => {
    await publish()
    const refs = entitlement.customerRefs
    expect(new Set(refs.map((ref) => placeOf(ref).partition)).size).toBe(2)
    await Promise.all(refs.map((ref) => use(ref, 2)))
    const reserving = reserve(2)
    await project()
    expect((await reserving).body).toMatchObject({ withinLimits: true, remaining: 0 })
    expect((await reserve(1)).body).toMatchObject({ withinLimits: false, remaining: 0 })
  })

  it('are answered with 503 if the counters make no progress', async () => {
    await publish()
    await use('user-1', 1)
    const reply = await reserve(1)
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1'])
    await project()
    expect((await reserve(1)).body).toMatchObject({ withinLimits: true, remaining: 8 })
  })

  it('are the same for the same key under any reference, until they are released', async () => {
    await publish()
    const first = await reserve(7, { idempotencyKey: 'job' })
    const again = await reserve(7, { idempotencyKey: 'job', customerRef: 'cus_1' })
    expect(again.body).toEqual(first.body)
    expect((await reserve(7, { idempotencyKey: 'job 2' })).body['withinLimits']).toBe(false)
    expect((await reserve(3, { idempotencyKey: '' })).body['withinLimits']).toBe(true)
    const { id } = reservationOf(first)!
    expect((await release(id)).body).toEqual({ success: true, released: true })
    expect((await release(id)).body).toEqual({ success: true, released: false })
    expect(reservationOf(await reserve(1, { idempotencyKey: 'job' }))).toMatchObject({
      id,
      units: 1,
    })
  })

  it('are found by their key while they are held, although a plain check refuses', async () => {
    const charges = [{ key: 'calls', meterName: 'requests', cap: '3000000' }]
    await publish({ cap: null, charges })
    const keyed = (idempotencyKey: string) => reserve(1, { idempotencyKey })
    const first = await keyed('job')
    await use('user-1', 3)
    await project()
    const again = reservationOf(await keyed('job'))!
    expect(again).toEqual(reservationOf(first))
    const refused = { withinLimits: false, blockedBy: { reason: 'cap', limit: 'calls' } }
    expect((await keyed('other')).body).toMatchObject(refused)
    expect((await release(again.id)).body).toEqual({ success: true, released: true })
    expect((await keyed('job')).body).toMatchObject(refused)
    expect((await release(again.id)).body).toEqual({ success: true, released: false })
  })

  it('are found by their key after the budget of the customer stopped new ones', async () => {
    await publish()
    const keyed = (idempotencyKey: string) => reserve(1, { idempotencyKey })
    const first = await keyed('job')
    await publish({ budgetStop: entitlement.periods[0]! })
    expect(reservationOf(await keyed('job'))).toEqual(reservationOf(first))
    const refused = { withinLimits: false, blockedBy: { reason: 'budget' } }
    expect((await keyed('other')).body).toMatchObject(refused)
    await release(reservationOf(first)!.id)
    expect((await keyed('job')).body).toMatchObject(refused)
  })

  it('are released only by their own provider in their own environment', async () => {
    await publish()
    const { id } = reservationOf(await reserve(10))!
    const stranger = await installation.createKey('sandbox', null, 'prv_OTHER')
    const live = await installation.createKey('live')
    const nothing = { status: 200, body: { success: true, released: false } }
    expect(await release(id, stranger)).toMatchObject(nothing)
    expect(await release(id, live)).toMatchObject(nothing)
    expect(await release('no reservation')).toMatchObject(nothing)
    expect((await release(id)).body).toEqual({ success: true, released: true })
    expect((await reserve(10)).body['withinLimits']).toBe(true)
  })

  it('are named by every kind of usage', async () => {
    const event = { customerRef: 'user-1', productRef, reservationId: 'rsv_1.cus_1.prd_1' }
    for (const path of ['/v1/sdk/usages', '/v1/sdk/meter-events']) {
      expect((await installation.post(path, key, event)).status).toBe(200)
      const bulk = await installation.post(`${path}/bulk`, key, { events: [event] })
      expect(bulk.status).toBe(200)
    }
    await installation.post('/v1/sdk/usages', key, { ...event, reservationId: '' })
    const named = (await installation.events()).map((each) => each.reservationId)
    expect(named).toEqual([...Array<string>(4).fill(event.reservationId), null])
  })

  it('are bounded in number, beyond which the response is 503', async () => {
    await publish({ cap: null })
    for (let number = 0; number < 20; number++) expect((await reserve(1)).status).toBe(200)
    expect((await reserve(1)).status).toBe(503)
  })

  it.each([
    [{ units: 0, ttlSeconds: 60 }, ['reserve', 'units']],
    [{ units: -1, ttlSeconds: 60 }, ['reserve', 'units']],
    [{ units: 0.0000001, ttlSeconds: 60 }, ['reserve', 'units']],
    [{ units: '1', ttlSeconds: 60 }, ['reserve', 'units']],
    [{ units: 1, ttlSeconds: 0 }, ['reserve', 'ttlSeconds']],
    [{ units: 1, ttlSeconds: 1.5 }, ['reserve', 'ttlSeconds']],
    [{ units: 1, ttlSeconds: 601 }, ['reserve', 'ttlSeconds']],
    [{ units: 1 }, ['reserve', 'ttlSeconds']],
    [true, ['reserve']],
  ])('are refused if no part of the system can make them: %j', async (wanted, path) => {
    await publish()
    const reply = await reserve(1, { reserve: wanted })
    expect(reply.status).toBe(400)
    expect(reply.body['errors']).toMatchObject([{ path }])
  })

  it('are forwarded while nothing is published', async () => {
    expect(await reserve(1)).toMatchObject({ status: 200, body: { from: 'control plane' } })
  })
})
