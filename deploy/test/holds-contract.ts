import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import type { TollgateClient } from '../src/client/tollgate-client.ts'
import { HoldsCaller, type Debit, type HeldBatch, type Named } from './holds-caller.ts'
import { createCustomer } from './offers.ts'
import type { StackUnderTest } from './stack-under-test.ts'

const testTimeoutMs = 120_000

/** Tests holds of credits, parts of holds, extensions and batches, with any set of stores. */
export function describeHolds(opened: () => StackUnderTest): void {
  let caller: HoldsCaller
  let client: TollgateClient
  let other: TollgateClient

  beforeAll(async () => {
    caller = await HoldsCaller.open(opened())
    client = caller.client
    other = (await opened().stack.createProvider()).sandbox
  })

  const send = <Body>(path: string, body: unknown) => caller.send<Body>(path, body)
  const createPayer = (plan: object, credits: number) => caller.createPayer(plan, credits)
  const check = (named: Named, more: object = {}) => caller.check(named, more)
  const hold = (named: Named, reserve: object, more: object = {}) =>
    caller.hold(named, reserve, more)
  const balance = (named: Named) => caller.balance(named)
  const statusOf = async (path: string, body: unknown, by = client) => {
    const { status, body: answer } = await caller.post(path, body, by)
    return [status, (answer as { code?: string }).code]
  }
  const release = (reservationId: string) =>
    send<{ released: boolean }>('/v1/sdk/limits/release', { reservationId })
  const record = (named: Named, meterName: string, value: number, more: object = {}) =>
    send('/v1/sdk/meter-events', { ...named, meterName, value, ...more })
  const call = (named: Named, more: object = {}) =>
    send<{ creditDebit: Debit }>('/v1/sdk/usages', { ...named, ...more })
  const batch = (named: Named, reservations: readonly object[], more: object = {}) =>
    send<HeldBatch>('/v1/sdk/limits/reservations', { ...named, reservations, ...more })

  const prices = {
    charges: [
      { meter: 'requests', creditsPerUnit: '1' },
      { meter: 'tokens', creditsPerUnit: '0.01', cap: 1_000 },
    ],
  }

  describe('a hold of credits', () => {
    test('is taken from the wallet, and ends with the first usage that names it', async () => {
      const named = await createPayer(prices, 10)
      const { reservation, creditBalance } = await hold(named, { credits: 7.5 })
      expect(reservation).toMatchObject({ units: 0, credits: 7.5 })
      expect(creditBalance).toBe(2)
      const refused = await hold(named, { credits: 2.500001 })
      expect(refused).toMatchObject({
        withinLimits: false,
        blockedBy: { reason: 'credits' },
        plans: [{}],
      })
      expect(refused.reservation).toBeUndefined()
      const last = await hold(named, { credits: 2.5 })
      expect(last.withinLimits).toBe(true)
      expect(await release(last.reservation!.id)).toMatchObject({ released: true })
      expect(await release(last.reservation!.id)).toMatchObject({ released: false })
      // The call costs less than it held, and the rest returns.
      const { creditDebit } = await call(named, { units: 3, reservationId: reservation!.id })
      expect(creditDebit).toMatchObject({ credits: '3' })
      expect(creditDebit.shortfall).toBeUndefined()
      await expect.poll(() => balance(named)).toBe(7)
    })

    test('is found again by its key, also after it was used', async () => {
      const named = await createPayer(prices, 10)
      const idempotencyKey = randomUUID()
      const first = await hold(named, { credits: 4 }, { idempotencyKey })
      const again = await hold(named, { credits: 4 }, { idempotencyKey })
      expect(again.reservation).toEqual(first.reservation)
      await call(named, { units: 1, reservationId: first.reservation!.id })
      await expect.poll(() => balance(named)).toBe(9)
      const after = await hold(named, { credits: 4 }, { idempotencyKey })
      expect(after.reservation?.id).toBe(first.reservation!.id)
      expect(await balance(named)).toBe(9)
    })

    test('settles above what it holds with what the wallet has, and reports the shortfall', async () => {
      const named = await createPayer(prices, 10)
      const { reservation } = await hold(named, { credits: 4 })
      await hold(named, { credits: 5 })
      const { creditDebit } = await call(named, { units: 8, reservationId: reservation!.id })
      // The event uses 4 units that were held and 1 that was not. The other hold keeps its units.
      expect(creditDebit).toMatchObject({ credits: '5', shortfall: '3' })
      expect(await balance(named)).toBe(0)
    })

    test('is refused where a cap leaves nothing, and for plans that no wallet pays', async () => {
      const plain = await createPayer({ creditsPerUnit: 2, limit: 1 }, 100)
      const { reservation } = await hold(plain, { credits: 10 })
      expect(reservation).toMatchObject({ units: 0, credits: 10 })
      expect((await call(plain, { reservationId: reservation!.id })).creditDebit.amount).toBe(2)
      await expect.poll(() => balance(plain)).toBe(98)
      expect(await hold(plain, { credits: 1 })).toMatchObject({ withinLimits: false, remaining: 0 })

      const capped = await createPayer(prices, 100)
      await record(capped, 'tokens', 1_000)
      expect(await hold(capped, { credits: 1 })).toMatchObject({
        ...{ withinLimits: false, blockedBy: { reason: 'cap', limit: 'tokens' } },
      })
      const { reference: productRef } = await client.createProduct({ name: randomUUID() })
      await client.createPlan(productRef, {
        name: 'Free',
        default: true,
        type: 'recurring',
        price: 0,
      })
      const free = { customerRef: await createCustomer(client), productRef }
      await check(free)
      const reserve = { credits: 1, ttlSeconds: 60 }
      expect(await statusOf('/v1/sdk/limits', { ...free, reserve })).toEqual([
        400,
        'validation_failed',
      ])
    })

    test('admits 20 of 1,000 callers when the wallet has credits for 20 of them', async () => {
      const named = await createPayer(prices, 10)
      await check(named)
      const answers = await Promise.all(
        Array.from({ length: 1_000 }, () => hold(named, { credits: 0.5 })),
      )
      expect(answers.filter(({ withinLimits }) => withinLimits)).toHaveLength(20)
      expect(await balance(named)).toBe(0)
    }, 120_000)
  })

  describe('usage that is not the last of its hold', () => {
    test('leaves the rest of the units and credits on hold', async () => {
      const named = await createPayer(prices, 20)
      const held = await hold(named, { estimate: { tokens: 900, requests: 3 } })
      const reservationId = held.reservation!.id
      expect(held).toMatchObject({ creditBalance: 8 })
      const part = { reservationId, reservationFinal: false }
      await record(named, 'tokens', 300, part)
      await expect
        .poll(async () => (await hold(named, { units: 101 }, { meterName: 'tokens' })).withinLimits)
        .toBe(false)
      // 300 tokens cost 3 credits, of the 12 that are held.
      expect(await balance(named)).toBe(8)
      expect((await call(named, part)).creditDebit).toMatchObject({ credits: '1' })
      expect(await balance(named)).toBe(8)
      // A failed call uses nothing of the hold.
      await call(named, { ...part, outcome: 'fail' })
      expect(await balance(named)).toBe(8)
      await record(named, 'tokens', 100, { reservationId })
      await expect.poll(() => balance(named)).toBe(15)
      const rest = await hold(named, { units: 600 }, { meterName: 'tokens' })
      expect(rest).toMatchObject({ withinLimits: true, remaining: 0 })
      expect(await release(reservationId)).toMatchObject({ released: false })
    }, 120_000)

    test('ends the hold when it has used it up, and counts once for a repeated request', async () => {
      const named = await createPayer(prices, 20)
      const { reservation } = await hold(named, { units: 500 }, { meterName: 'tokens' })
      const part = { reservationId: reservation!.id, reservationFinal: false }
      const idempotencyKey = randomUUID()
      for (let again = 0; again < 3; again += 1) {
        await record(named, 'tokens', 200, { ...part, idempotencyKey })
      }
      // 200 used and 300 held of 1,000.
      const next = await hold(named, { units: 500 }, { meterName: 'tokens' })
      expect(next).toMatchObject({ withinLimits: true, remaining: 0 })
      await record(named, 'tokens', 350, part)
      await expect.poll(async () => (await release(part.reservationId)).released).toBe(false)
      await release(next.reservation!.id)
      expect(await hold(named, { units: 451 }, { meterName: 'tokens' })).toMatchObject({
        withinLimits: false,
      })
      expect(await hold(named, { units: 450 }, { meterName: 'tokens' })).toMatchObject({
        ...{ withinLimits: true, remaining: 0 },
      })
    }, 120_000)

    test('uses held credits one after the other, and then what the wallet has', async () => {
      const named = await createPayer(prices, 10)
      const { reservation } = await hold(named, { credits: 6 })
      await hold(named, { credits: 3 })
      const part = { reservationId: reservation!.id, reservationFinal: false }
      expect((await call(named, { ...part, units: 4 })).creditDebit).toMatchObject({ credits: '4' })
      expect(await balance(named)).toBe(1)
      const { creditDebit } = await call(named, { ...part, units: 4 })
      expect(creditDebit).toMatchObject({ credits: '3', shortfall: '1' })
      expect((await call(named, part)).creditDebit).toMatchObject({ credits: '0', shortfall: '1' })
    })
  })

  describe('an extension', () => {
    test('keeps a hold beyond its expiry, and never shortens it', async () => {
      const named = await createPayer(prices, 10)
      const { reservation } = await hold(named, { units: 3, ttlSeconds: 2 })
      const extend = (ttlSeconds: number) =>
        send<{ expiresAt: string }>('/v1/sdk/limits/extend', {
          reservationId: reservation!.id,
          ttlSeconds,
        })
      const { expiresAt } = await extend(60)
      expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now() + 50_000)
      expect(await extend(1)).toEqual({ success: true, expiresAt })
      await sleep(Date.parse(reservation!.expiresAt) - Date.now() + 50)
      expect(await balance(named)).toBe(7)
      expect(await release(reservation!.id)).toMatchObject({ released: true })
      expect(await balance(named)).toBe(10)
    }, 120_000)

    test('is refused for a hold that is gone, of another provider, or for too long', async () => {
      const named = await createPayer(prices, 10)
      const path = '/v1/sdk/limits/extend'
      const { reservation } = await hold(named, { units: 1 })
      const reservationId = reservation!.id
      const asked = { reservationId, ttlSeconds: 60 }
      const gone = [409, 'reservation_gone']
      expect(await statusOf(path, asked, other)).toEqual(gone)
      expect(await statusOf(path, { ...asked, reservationId: 'nothing' })).toEqual(gone)
      expect((await statusOf(path, { ...asked, ttlSeconds: 86_401 }))[0]).toBe(400)
      expect((await statusOf(path, { ...asked, ttlSeconds: 3_601 }))[0]).toBe(400)
      await call(named, { reservationId })
      await expect.poll(() => statusOf(path, asked)).toEqual(gone)
    })
  })

  describe('a batch', () => {
    test('answers each reservation beside those before it', async () => {
      const named = await createPayer(prices, 10)
      const idempotencyKey = randomUUID()
      const reservations = [
        { meterName: 'tokens', reserve: { units: 600, ttlSeconds: 60 }, idempotencyKey },
        { reserve: { estimate: { tokens: 500 }, ttlSeconds: 60 } },
        { reserve: { estimate: { tokens: 400 }, ttlSeconds: 60 } },
        { reserve: { credits: 1, ttlSeconds: 60 } },
      ]
      const { held, results } = await batch(named, reservations)
      expect(held).toBe(2)
      expect(results.map(({ status }) => status)).toEqual(['held', 'refused', 'held', 'refused'])
      expect(results[1]!.limits).toMatchObject({
        ...{ withinLimits: false, blockedBy: { reason: 'cap', limit: 'tokens' } },
      })
      const first = results[0]!.limits!.reservation!
      expect(first).toMatchObject({ units: 600 })
      expect(results[3]!.limits).toMatchObject({ blockedBy: { reason: 'credits' } })
      expect(await balance(named)).toBe(0)
      // Repeated, the first one is found by its key.
      const again = await batch(named, reservations.slice(0, 1))
      expect(again.results[0]!.limits!.reservation).toEqual(first)
    })

    test('is found again by the key of its request', async () => {
      const named = await createPayer(prices, 10)
      const body = {
        ...named,
        reservations: Array(3).fill({ reserve: { credits: 2, ttlSeconds: 60 } }),
      }
      const key = randomUUID()
      const idsOf = async () => {
        const { body: answer } = await client.send('POST', '/v1/sdk/limits/reservations', body, key)
        return (answer as HeldBatch).results.map(({ limits }) => limits?.reservation?.id)
      }
      await caller.settled(named)
      const first = await idsOf()
      expect(new Set(first).size).toBe(3)
      expect(await idsOf()).toEqual(first)
      expect(await balance(named)).toBe(4)
    })

    test('holds nothing unless all fit, if so asked', async () => {
      const named = await createPayer(prices, 10)
      const tokens = (units: number) => ({
        reserve: { estimate: { tokens: units }, ttlSeconds: 60 },
      })
      const more = { allOrNothing: true }
      const refused = await batch(named, [tokens(400), tokens(601), tokens(1)], more)
      expect(refused).toMatchObject({
        held: 0,
        results: [{ status: 'not_held' }, { status: 'refused' }, { status: 'not_held' }],
      })
      expect(await balance(named)).toBe(10)
      const all = await batch(named, [tokens(400), tokens(600)], more)
      expect(all.held).toBe(2)
      expect(await balance(named)).toBe(0)
      for (const { limits } of all.results) await release(limits!.reservation!.id)
      expect(await balance(named)).toBe(10)
    })

    test('of plans without charges holds units of requests and credits', async () => {
      const named = await createPayer({ creditsPerUnit: 2 }, 9)
      const units = (count: number) => ({ reserve: { units: count, ttlSeconds: 60 } })
      const { results } = await batch(named, [
        units(3),
        units(2),
        { reserve: { credits: 3, ttlSeconds: 60 } },
      ])
      expect(results.map(({ status }) => status)).toEqual(['held', 'refused', 'held'])
      expect(await balance(named)).toBe(0)
      const path = '/v1/sdk/limits/reservations'
      const estimate = { reserve: { estimate: { tokens: 1 }, ttlSeconds: 60 } }
      const invalid = { ...named, reservations: [units(1), estimate] }
      expect(await statusOf(path, invalid)).toEqual([400, 'validation_failed'])
      expect((await statusOf(path, { ...named, reservations: [] }))[0]).toBe(400)
    })

    test('never exceeds a cap beside other callers', async () => {
      const named = await createPayer(prices, 1_000)
      await check(named)
      const one = { reserve: { estimate: { tokens: 10 }, ttlSeconds: 60 } }
      const batches = Array.from({ length: 12 }, (_, index) =>
        batch(named, Array(10).fill(one) as object[], { allOrNothing: index % 2 === 0 }),
      )
      const single = Array.from({ length: 40 }, () => hold(named, { estimate: { tokens: 10 } }))
      const held = (await Promise.all(batches)).reduce((sum, each) => sum + each.held, 0)
      const alone = (await Promise.all(single)).filter(({ withinLimits }) => withinLimits).length
      expect(held + alone).toBeLessThanOrEqual(100)
      // The refused batch held nothing, so its units can still be reserved.
      let rest = 0
      while ((await hold(named, { estimate: { tokens: 10 } })).withinLimits) rest += 1
      expect(held + alone + rest).toBe(100)
    }, 120_000)
  })

  test(
    'prices a hold, a check and a debit of several charges on one meter alike',
    async () => {
      await client.require('POST', '/v1/ui/meters', {
        ...{ name: 'model_tokens', aggregation: 'sum', dimensions: ['model'] },
        ...{ event: { type: 'chat' }, value: '/tokens' },
      })
      const meter = 'model_tokens'
      const named = await createPayer(
        {
          charges: [
            { meter, key: 'base', creditsPerUnit: '1' },
            { meter, key: 'small', where: { model: ['small'] }, creditsPerUnit: '2' },
            { meter, key: 'large', where: { model: ['large'] }, creditsPerUnit: '4' },
          ],
        },
        50,
      )
      // 1 + 4 credits at most: a call has one model.
      expect(await check(named, { meterName: meter })).toMatchObject({ remaining: 10 })
      expect((await hold(named, { units: 11 }, { meterName: meter })).withinLimits).toBe(false)
      const { reservation, creditBalance } = await hold(named, { units: 10 }, { meterName: meter })
      expect(creditBalance).toBe(0)
      const chat = (subject: string, more: object = {}) =>
        send<{ creditDebit: Debit; counts: readonly object[] }>('/v1/events', {
          ...{ specversion: '1.0', id: randomUUID(), source: 'test', type: 'chat', subject },
          ...{ data: { model: 'large', tokens: 10 }, ...more },
        })
      // Ingest reads new meters some time after they were made.
      const counts = async () => (await chat('another-customer')).counts.length
      await expect.poll(counts, { timeout: 30_000 }).toBe(1)
      const { creditDebit } = await chat(named.customerRef, {
        ...{ productref: named.productRef, reservationid: reservation!.id },
      })
      expect(creditDebit).toMatchObject({ credits: '50' })
      expect(await balance(named)).toBe(0)
    },
    testTimeoutMs,
  )

  test('refuses an estimate with a key that no meter can have', async () => {
    const named = await createPayer(prices, 1)
    const estimate = JSON.parse('{"tokens":1,"__proto__":1}') as object
    const reserve = { estimate, ttlSeconds: 60 }
    expect((await statusOf('/v1/sdk/limits', { ...named, reserve }))[0]).toBe(400)
  })
}
