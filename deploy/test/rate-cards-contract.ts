import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TollgateClient } from '../src/client/tollgate-client.ts'
import { describeHolds } from './holds-contract.ts'
import { describeRandomHolds } from './random-holds-contract.ts'
import { createCustomer } from './offers.ts'
import type { StackUnderTest } from './stack-under-test.ts'

const testTimeoutMs = 120_000

/** Tests limits and debits of plans with charges, with any set of stores. */
export function describeRateCards(title: string, createStack: () => Promise<StackUnderTest>): void {
  describe(title, () => {
    let underTest: StackUnderTest
    let client: TollgateClient

    beforeAll(async () => {
      underTest = await createStack()
      client = (await underTest.stack.createProvider()).sandbox
      for (const name of ['tokens', 'images']) {
        await client.require('POST', '/v1/ui/meters', { name, aggregation: 'sum' })
      }
    })
    afterAll(() => underTest.remove())

    const send = async <Body>(method: string, path: string, body?: unknown): Promise<Body> => {
      const answer = await client.send(method, path, body)
      expect([answer.status, answer.body]).toEqual([200, answer.body])
      return answer.body as Body
    }
    const createProduct = async (plan: Record<string, unknown>): Promise<string> => {
      const { reference } = await client.createProduct({ name: randomUUID() })
      await client.createPlan(reference, { name: 'Plan', default: true, ...plan })
      return reference
    }
    /** Creates a customer with the only plan of a product that a wallet pays for. */
    const createPayer = async (charges: readonly object[], credits: number, more: object = {}) => {
      const productRef = await createProduct({ type: 'usage-based', charges, ...more })
      const customerRef = await createCustomer(client)
      const named = { customerRef, productRef }
      const [plan] = await client.listPlans(productRef)
      await send('POST', '/v1/sdk/activate', { ...named, planRef: plan!.reference })
      await send('POST', `/v1/sdk/customers/${customerRef}/credits`, { credits })
      return named
    }
    const count = (named: object, meterName: string, value: number) =>
      send('POST', '/v1/sdk/meter-events', { ...named, meterName, value })
    const check = (named: object, more: object = {}) =>
      send<Record<string, unknown>>('POST', '/v1/sdk/limits', { ...named, ...more })

    test('limits each meter by the cap of its charge', async () => {
      const productRef = await createProduct({
        type: 'recurring',
        price: 0,
        billingCycle: 'monthly',
        charges: [
          { meter: 'tokens', cap: 1000 },
          { meter: 'images', cap: 3, key: 'pictures' },
        ],
      })
      const named = { customerRef: await createCustomer(client), productRef }
      expect(await check(named)).toMatchObject({
        withinLimits: true,
        remaining: 3,
        meterName: 'images',
      })
      await count(named, 'tokens', 999.5)
      expect(await check(named)).toMatchObject({ remaining: 0.5, meterName: 'tokens' })
      await count(named, 'tokens', 0.5)
      await count(named, 'images', 1)

      const blockedBy = { reason: 'cap', limit: 'tokens', meterName: 'tokens' }
      const denied = await check(named)
      expect(denied).toMatchObject({ withinLimits: false, remaining: 0, blockedBy, plans: [{}] })
      expect(Date.parse(denied['resetsAt'] as string)).toBeGreaterThan(Date.now())
      expect(await check(named, { meterName: 'tokens' })).toMatchObject({ blockedBy })
      expect(await check(named, { meterName: 'images' })).toMatchObject({
        withinLimits: true,
        remaining: 2,
      })
      // A name without a limit may be a misspelling, so every limit decides.
      expect(await check(named, { meterName: 'elsewhere' })).toMatchObject({ blockedBy })
      expect(await check(named, { usageType: 'images' })).toMatchObject({ remaining: 2 })
      const { resetsAt } = denied
      expect(await check(named, { includeLimits: true })).toMatchObject({
        limits: [
          { limit: 'tokens', cap: 1000, used: 1000, remaining: 0, blocks: 'cap', resetsAt },
          { limit: 'pictures', cap: 3, used: 1, remaining: 2, resetsAt },
        ],
      })
    })

    test('limits a meter in several windows at once', async () => {
      const productRef = await createProduct({
        type: 'recurring',
        price: 0,
        billingCycle: 'monthly',
        charges: [{ meter: 'tokens', cap: 100 }],
        usageLimits: [
          { meter: 'tokens', cap: 4, per: 'rolling', rollingSeconds: 60 },
          { meter: 'tokens', cap: 10, per: 'rolling', rollingSeconds: 3600, key: 'hourly' },
          { meter: 'images', cap: 1000, per: 'week' },
        ],
      })
      const customerRef = await createCustomer(client)
      const named = { customerRef, productRef }
      expect(await check(named)).toMatchObject({ withinLimits: true, remaining: 4 })
      // The entry of a new purchase counts from its publication on, and what the slots still hold.
      const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()
      await send('POST', '/v1/sdk/meter-events', {
        ...{ ...named, meterName: 'tokens', value: 7, timestamp: ago(120) },
      })
      expect(await check(named)).toMatchObject({ withinLimits: true, remaining: 3 })
      await count(named, 'tokens', 2.5)
      expect(await check(named)).toMatchObject({ withinLimits: true, remaining: 0.5 })
      await count(named, 'tokens', 1.5)
      const denied = await check(named, { includeLimits: true })
      expect(denied).toMatchObject({
        withinLimits: false,
        blockedBy: { reason: 'cap', limit: 'hourly', meterName: 'tokens' },
        limits: [
          { limit: 'tokens', used: 11, remaining: 89 },
          { limit: 'tokens-60s', used: 4, remaining: 0, blocks: 'cap' },
          { limit: 'hourly', used: 11, remaining: 0, blocks: 'cap' },
          { limit: 'images-week', used: 0, remaining: 1000 },
        ],
      })
      // The 7 units from 2 minutes ago leave the hour first, which makes room.
      const resetsIn = Date.parse(denied['resetsAt'] as string) - Date.now()
      expect(resetsIn).toBeGreaterThan(3_400_000)
      expect(resetsIn).toBeLessThan(3_600_000)
      const {
        checkoutUrl: _url,
        checkoutSessionId: _id,
        ...forwarded
      } = await check(named, {
        ...{ includeLimits: true, includeCheckoutSession: true },
      })
      expect(forwarded).toEqual(denied)
      expect(await check(named, { meterName: 'images' })).toMatchObject({
        withinLimits: true,
        remaining: 1000,
      })
    })

    test('answers as the control plane does', async () => {
      const named = await createPayer(
        [
          { meter: 'tokens', creditsPerUnit: '0.25', cap: 100 },
          { meter: 'images', creditsPerUnit: '2' },
        ],
        50,
      )
      for (const step of [
        () => Promise.resolve(),
        () => count(named, 'tokens', 99),
        () => count(named, 'images', 10),
        () => count(named, 'images', 3),
      ]) {
        await step()
        for (const meterName of [undefined, 'tokens', 'images', 'elsewhere']) {
          const asked = { meterName, includeLimits: true }
          const own = await check(named, asked)
          // Checkout sessions are created by the control plane, so it answers these checks.
          const { checkoutUrl, checkoutSessionId, ...forwarded } = await check(named, {
            ...asked,
            includeCheckoutSession: true,
          })
          expect(forwarded).toEqual(own)
          expect(checkoutUrl !== undefined).toBe(own['withinLimits'] === false)
          expect(checkoutSessionId !== undefined).toBe(checkoutUrl !== undefined)
        }
      }
    })

    test(
      'debits a call once over all charges, with fractions of a credit',
      async () => {
        const named = await createPayer(
          [
            { meter: 'requests', creditsPerUnit: '0.5' },
            { meter: 'tokens', creditsPerUnit: '0.0003' },
          ],
          2,
        )

        const idempotencyKey = randomUUID()
        const { creditDebit } = await client.recordUsage({ ...named, units: 3, idempotencyKey })
        expect(creditDebit).toEqual({
          debited: true,
          amount: 1,
          unitsRemaining: 0,
          credits: '1.5',
          charges: [{ charge: 'requests', meterName: 'requests', units: 3, credits: '1.5' }],
        })
        expect(
          (await client.recordUsage({ ...named, units: 3, idempotencyKey })).creditDebit,
        ).toEqual({ debited: false, reason: 'duplicate' })
        await count(named, 'tokens', 1000)
        expect(await check(named, { meterName: 'tokens' })).toMatchObject({
          withinLimits: true,
          remaining: 666,
          creditBalance: 0,
          creditsPerUnit: 0.0003,
        })
        await count(named, 'images', 7)
        // The wallet has less than the call costs, so it pays what it has.
        const last = await client.recordUsage(named)
        expect(last.creditDebit).toMatchObject({
          credits: '0.2',
          charges: [{ charge: 'requests', credits: '0.5' }],
        })
        expect(await check(named)).toMatchObject({
          withinLimits: false,
          blockedBy: { reason: 'credits' },
        })
        await expect.poll(() => ledgerOf(named.customerRef), { timeout: 60_000 }).toBe('0')
      },
      testTimeoutMs,
    )

    test(
      'never debits more than the wallet has, with many callers at once',
      async () => {
        const named = await createPayer(
          [
            { meter: 'requests', creditsPerUnit: '0.0000075' },
            { meter: 'tokens', creditsPerUnit: '0.1' },
          ],
          5,
        )
        const calls = Array.from({ length: 300 }, (_, index) =>
          index % 3 === 0
            ? client.recordUsage({ ...named, units: 10_000 }).then(({ creditDebit }) => creditDebit)
            : count(named, 'tokens', 0.4).then(() => undefined),
        )
        const debits = (await Promise.all(calls)) as ({ credits?: string } | undefined)[]
        for (const debit of debits) expect(Number(debit?.credits ?? 0)).toBeLessThanOrEqual(0.075)
        expect(await check(named)).toMatchObject({ withinLimits: false, remaining: 0 })
        await expect.poll(() => ledgerOf(named.customerRef), { timeout: 60_000 }).toBe('0')
      },
      testTimeoutMs,
    )

    test('holds units of several meters under every cap at once', async () => {
      const limits = {
        usageLimits: [{ meter: 'tokens', cap: 600, per: 'rolling', rollingSeconds: 3600 }],
      }
      const named = await createPayer(
        [
          { meter: 'tokens', creditsPerUnit: '0.01', cap: 1000 },
          { meter: 'images', creditsPerUnit: '1' },
        ],
        10,
        limits,
      )
      type Held = { readonly reservation?: { readonly id: string } } & Record<string, unknown>
      const hold = (estimate: object) =>
        check(named, { reserve: { estimate, ttlSeconds: 60 } }) as Promise<Held>

      const first = await hold({ tokens: 400, images: 2 })
      expect(first).toMatchObject({
        withinLimits: true,
        reservation: { units: 400 },
        // 10 credits less 400 tokens at 0.01 and 2 images at 1.
        creditBalance: 4,
        remaining: 200,
      })
      const refused = await hold({ tokens: 201 })
      expect(refused).toMatchObject({
        withinLimits: false,
        blockedBy: { reason: 'cap', limit: 'tokens-3600s', meterName: 'tokens' },
      })
      expect(Date.parse(refused['resetsAt'] as string)).toBeGreaterThan(Date.now() + 60_000)
      expect(await hold({ images: 5 })).toMatchObject({
        withinLimits: false,
        blockedBy: { reason: 'credits', limit: 'images', meterName: 'images' },
      })
      // The call used less than it held, and its record ends the hold.
      await send('POST', '/v1/sdk/meter-events', {
        ...{ ...named, meterName: 'tokens', value: 100, reservationId: first.reservation!.id },
      })
      expect(await check(named, { meterName: 'tokens' })).toMatchObject({ remaining: 500 })
      expect(await check(named, { meterName: 'images' })).toMatchObject({
        creditBalance: 9,
        remaining: 9,
      })
      const second = await check(named, {
        ...{ meterName: 'tokens', reserve: { units: 500, ttlSeconds: 60 } },
      })
      expect(second).toMatchObject({ withinLimits: true, remaining: 0, meterName: 'tokens' })
      const { id: reservationId } = second['reservation'] as { id: string }
      // A hold that names no meter does not pass where a plain check is refused.
      expect(await check(named, { reserve: { units: 1, ttlSeconds: 60 } })).toMatchObject({
        withinLimits: true,
      })
      await count(named, 'tokens', 500)
      expect(await check(named, { reserve: { units: 1, ttlSeconds: 60 } })).toMatchObject({
        withinLimits: false,
        blockedBy: { meterName: 'tokens' },
      })
      await send('POST', '/v1/sdk/limits/release', { reservationId })
      expect(await hold({ tokens: 1 })).toMatchObject({ withinLimits: false })
    })

    test('admits concurrent holds up to the tightest cap and never above', async () => {
      const productRef = await createProduct({
        type: 'recurring',
        price: 0,
        billingCycle: 'monthly',
        charges: [
          { meter: 'tokens', cap: 1000 },
          { meter: 'images', cap: 37 },
        ],
        usageLimits: [{ meter: 'tokens', cap: 500, per: 'week' }],
      })
      const named = { customerRef: await createCustomer(client), productRef }
      await check(named)
      const holds = await Promise.all(
        Array.from({ length: 100 }, () =>
          check(named, { reserve: { estimate: { tokens: 10, images: 1 }, ttlSeconds: 60 } }),
        ),
      )
      expect(holds.filter(({ withinLimits }) => withinLimits)).toHaveLength(37)
      for (const { withinLimits, blockedBy } of holds) {
        if (withinLimits === false) expect(blockedBy).toMatchObject({ limit: 'images' })
      }
      const rest = await Promise.all(
        Array.from({ length: 30 }, () =>
          check(named, { meterName: 'tokens', reserve: { units: 10, ttlSeconds: 60 } }),
        ),
      )
      expect(rest.filter(({ withinLimits }) => withinLimits)).toHaveLength(13)
    })

    describeHolds(() => underTest)
    describeRandomHolds(() => underTest)

    test('refuses an estimate for a plan that limits only requests', async () => {
      const productRef = await createProduct({ type: 'recurring', price: 0, limit: 10 })
      const named = { customerRef: await createCustomer(client), productRef }
      await check(named)
      const reserve = { estimate: { tokens: 10 }, ttlSeconds: 60 }
      const { status, body } = await client.send('POST', '/v1/sdk/limits', { ...named, reserve })
      expect(status).toBe(400)
      expect(JSON.stringify(body)).toContain('Only plans with charges hold other meters')
    })

    const ledgerOf = async (customerRef: string): Promise<string> => {
      const [wallet] = await underTest.stack.database.in('sandbox')<{ balance: string }[]>`
        select balance_micros as balance from wallets where customer_ref = ${customerRef}`
      return String(wallet?.balance)
    }
  })
}
