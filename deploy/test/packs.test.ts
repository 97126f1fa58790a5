import { randomUUID } from 'node:crypto'
import { jobActor } from '@tollgate/domain/audit/actor'
import { findCustomer } from '@tollgate/domain/customers/repository'
import { findPlan } from '@tollgate/domain/catalog/plans-repository'
import { addPack } from '@tollgate/domain/packs/add-pack'
import { createPurchase } from '@tollgate/domain/purchases/create-purchase'
import { newUnpaidPurchase } from '@tollgate/domain/purchases/new-purchase'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LimitResponse, TollgateClient } from '../src/client/tollgate-client.ts'
import { createCustomer } from './offers.ts'
import { createEmbeddedStack, type StackUnderTest } from './stack-under-test.ts'

/* The data plane counts packs with the limits of the running plan, in checks and in reservations. */

for (const by of ['ingest', 'the control plane'] as const) {
  describe(`packs, limited and reserved by ${by}`, () => {
    let underTest: StackUnderTest
    let client: TollgateClient

    beforeAll(async () => {
      underTest = await createEmbeddedStack(by)
      client = (await underTest.stack.createProvider()).sandbox
      await client.require('POST', '/v1/ui/meters', { name: 'tokens', aggregation: 'sum' })
    })
    afterAll(() => underTest.remove())

    const send = async <Body>(path: string, body: unknown): Promise<Body> => {
      const answer = await client.send('POST', path, body)
      expect([answer.status, answer.body]).toEqual([200, answer.body])
      return answer.body as Body
    }
    const open = async (plan: object) => {
      const { reference: productRef } = await client.createProduct({ name: randomUUID() })
      await client.createPlan(productRef, {
        ...{ name: 'Plan', type: 'recurring', price: 0, billingCycle: 'monthly', default: true },
        ...plan,
      })
      const named = { customerRef: await createCustomer(client), productRef }
      const check = (more: object = {}) =>
        send<LimitResponse>('/v1/sdk/limits', { ...named, ...more })
      await check()
      return { named, check, buy: (pack: object) => buyPack(named, pack) }
    }
    /** Delivers a pack as a payment does, and lets a change of the customer publish it. */
    const buyPack = async (
      { customerRef, productRef }: { customerRef: string; productRef: string },
      pack: object,
    ) => {
      const { reference: planRef } = await client.createPlan(productRef, {
        ...{ name: 'Pack', type: 'one-time', price: 500 },
        pack,
      })
      const { database } = underTest.stack
      const [row] = await database.in('sandbox')<{ provider_id: string }[]>`
        select provider_id from plans where reference = ${planRef}`
      const by = { actor: jobActor('test'), requestId: null, idempotencyKey: null } as const
      const { provider_id: providerId } = row!
      const now = new Date()
      const operation = { ...by, providerId, environment: 'sandbox', now } as const
      await runUnitOfWork(database, operation, async (work) => {
        const { sql } = work
        const customer = (await findCustomer(sql, providerId, customerRef))!
        const plan = (await findPlan(sql, providerId, productRef, planRef))!
        const product = { reference: productRef, name: 'Product' }
        const of = {
          customer,
          product,
          plan,
          now,
          cycleMode: 'calendar',
          origin: 'one_time',
        } as const
        const purchase = newUnpaidPurchase(of)
        await createPurchase(work, purchase)
        await addPack(work, purchase, plan)
      })
      await send(`/v1/sdk/customers/${customerRef}/credits`, { credits: 1 })
    }

    test('adds its units to the limit of a plan without charges', async () => {
      const { named, check, buy } = await open({ limit: 100 })
      await buy({ units: 50 })
      expect(await check()).toMatchObject({
        remaining: 150,
        packs: [{ meterName: 'requests', planRemaining: 100, packRemaining: 50 }],
      })
      await client.recordUsage({ ...named, units: 120 })
      expect(await check()).toMatchObject({
        remaining: 30,
        packs: [{ planRemaining: 0, packRemaining: 30 }],
      })
      await client.recordUsage({ ...named, units: 30 })
      expect(await check()).toMatchObject({ withinLimits: false, remaining: 0 })
    })

    test('gives parallel reservations no more than the plan and the pack have', async () => {
      const { named, buy } = await open({ limit: 100 })
      await client.recordUsage({ ...named, units: 95 })
      await buy({ units: 50 })
      const reserve = { units: 10, ttlSeconds: 600 }
      const answers = await Promise.all(
        Array.from({ length: 40 }, () =>
          send<LimitResponse>('/v1/sdk/limits', { ...named, reserve }),
        ),
      )
      expect(answers.filter(({ withinLimits }) => withinLimits)).toHaveLength(5)
    })

    test('adds the units of a meter to the cap of its charge alone', async () => {
      const charges = [
        { meter: 'tokens', cap: 1_000 },
        { meter: 'requests', cap: 5 },
      ]
      const { named, check, buy } = await open({ charges })
      await buy({ meter: 'tokens', units: 500 })
      await buy({ meter: 'tokens', units: 0.5 })
      const count = (value: number) =>
        send('/v1/sdk/meter-events', { ...named, meterName: 'tokens', value })
      await count(1_200)
      const tokens = { meterName: 'tokens' }
      expect(await check({ ...tokens, includeLimits: true })).toMatchObject({
        withinLimits: true,
        remaining: 300.5,
        packs: [{ ...tokens, planRemaining: 0, packRemaining: 300.5 }],
        limits: [{ limit: 'tokens', cap: 1_500.5, used: 1_200, remaining: 300.5 }],
      })
      expect(await check({ meterName: 'requests' })).toMatchObject({ remaining: 5 })
      const reserve = (units: number) => check({ ...tokens, reserve: { units, ttlSeconds: 600 } })
      expect(await reserve(301)).toMatchObject({ withinLimits: false })
      expect(await reserve(300)).toMatchObject({ withinLimits: true, remaining: 0.5 })
      await count(300.5)
      expect(await check(tokens)).toMatchObject({
        withinLimits: false,
        blockedBy: { reason: 'cap', limit: 'tokens' },
      })
    })
  })
}
