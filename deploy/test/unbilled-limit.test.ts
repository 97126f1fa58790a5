import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LimitResponse, TollgateClient } from '../src/client/tollgate-client.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'
import { createCustomer } from './offers.ts'
import { createEmbeddedStack, type StackUnderTest } from './stack-under-test.ts'

const begin = Date.parse('2027-01-04T10:00:00Z')
const weekMs = 7 * 86_400_000

/** 1 cent per unit, and at most 5 dollars before they are billed. */
const plan = {
  name: 'As you go',
  type: 'usage-based',
  billingModel: 'post-paid',
  billingCycle: 'weekly',
  creditsPerUnit: 100,
  maxUnbilledMinor: 500,
}

for (const by of ['ingest', 'the control plane'] as const) {
  describe(`usage that is not billed yet, limited and reserved by ${by}`, () => {
    let underTest: StackUnderTest
    let clock: ManualClock
    let client: TollgateClient

    beforeAll(async () => {
      clock = createManualClock(new Date(begin).toISOString())
      underTest = await createEmbeddedStack(by, { clock })
      client = (await underTest.stack.createProvider()).sandbox
    })

    afterAll(() => underTest.remove())

    const send = async (method: string, path: string, body?: unknown): Promise<unknown> => {
      const answer = await client.send(method, path, body)
      expect([answer.status, answer.body]).toEqual([200, answer.body])
      return answer.body
    }
    const activate = async (customerRef: string, productRef: string, more: object = {}) => {
      const { reference: planRef } = await client.createPlan(productRef, { ...plan, ...more })
      const body = { customerRef, productRef, planRef }
      expect(await send('POST', '/v1/sdk/activate', body)).toMatchObject({ status: 'activated' })
      return planRef
    }
    const open = async (more: object = {}) => {
      clock.set(begin)
      const { reference: productRef } = await client.createProduct({ name: 'Metered' })
      const customerRef = await createCustomer(client)
      const planRef = await activate(customerRef, productRef, more)
      const use = (units: number) =>
        client.recordUsage({
          customerRef,
          productRef,
          units,
          timestamp: new Date(clock.now()).toISOString(),
        })
      const reserve = async (units: number): Promise<LimitResponse> => {
        const body = { customerRef, productRef, reserve: { units, ttlSeconds: 600 } }
        return (await send('POST', '/v1/sdk/limits', body)) as LimitResponse
      }
      const check = () => client.checkLimit(customerRef, productRef)
      return { customerRef, productRef, planRef, use, reserve, check }
    }

    test('is denied with a paywall at the amount, is still recorded, and starts again with the next period', async () => {
      const { customerRef, productRef, planRef, use, check } = await open()
      expect(await check()).toMatchObject({ withinLimits: true, remaining: 500 })
      await use(499)
      expect(await check()).toMatchObject({ withinLimits: true, remaining: 1 })
      await use(1)
      const denied = await check()
      expect(denied).toMatchObject({
        withinLimits: false,
        remaining: 0,
        plan: planRef,
        product: { reference: productRef },
        plans: [{ reference: planRef, requiresPayment: true }],
      })
      await use(250)
      expect(await check()).toEqual(denied)
      const { body } = await client.send('GET', `/v1/sdk/purchases/customer/${customerRef}`)
      expect(body).toMatchObject({ purchases: [{ usage: { used: 750, overageCost: 750 } }] })
      expect(await send('POST', '/v1/sdk/user-info', { customerRef, productRef })).toMatchObject({
        purchase: { usage: { total: 500, used: 750, remaining: 0 } },
      })
      const linked = { customerRef, productRef, includeCheckoutSession: true }
      const answer = await send('POST', '/v1/sdk/limits', linked)
      expect(answer).toMatchObject({ withinLimits: false })
      expect((answer as { checkoutUrl: string }).checkoutUrl).toMatch(/^http/)

      clock.set(begin + weekMs)
      expect(await check()).toMatchObject({ withinLimits: true, remaining: 500 })
    })

    test('includes reserved usage', async () => {
      const { use, reserve } = await open()
      await use(200)
      expect(await reserve(301)).toMatchObject({ withinLimits: false, remaining: 300 })
      expect(await reserve(200)).toMatchObject({ withinLimits: true, remaining: 100 })
      expect(await reserve(101)).toMatchObject({ withinLimits: false, remaining: 100 })
      expect(await reserve(100)).toMatchObject({ withinLimits: true, remaining: 0 })
    })

    test('continues over a change of plan, and rises with a higher limit', async () => {
      const { customerRef, productRef, use, check, reserve } = await open()
      await use(500)
      await activate(customerRef, productRef)
      expect(await check()).toMatchObject({ withinLimits: false, remaining: 0 })
      expect(await reserve(1)).toMatchObject({ withinLimits: false })
      await activate(customerRef, productRef, { maxUnbilledMinor: 800 })
      expect(await check()).toMatchObject({ withinLimits: true, remaining: 300 })
      await use(300)
      expect(await check()).toMatchObject({ withinLimits: false, remaining: 0 })
    })

    test('starts after the free units, and stays below the limit of the plan', async () => {
      const capped = await open({ limit: 300 })
      expect(await capped.check()).toMatchObject({ remaining: 300 })
      const free = await open({ freeUnits: 100, limit: 5_000 })
      expect(await free.check()).toMatchObject({ remaining: 600 })
    })

    test('is refused for plans that are not post-paid', async () => {
      const { reference } = await client.createProduct({ name: 'Refused' })
      for (const refused of [
        { name: 'Free', type: 'recurring', price: 0 },
        { name: 'Paid', type: 'recurring', price: 900 },
        { name: 'Pre-paid', type: 'usage-based', billingModel: 'pre-paid', creditsPerUnit: 5 },
      ]) {
        const answer = await client.send('POST', `/v1/sdk/products/${reference}/plans`, {
          ...refused,
          maxUnbilledMinor: 500,
        })
        expect(answer).toMatchObject({
          status: 400,
          body: { message: 'Validation failed', errors: [{ path: ['maxUnbilledMinor'] }] },
        })
      }
    })
  })
}
