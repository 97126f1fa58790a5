import { randomUUID } from 'node:crypto'
import { listUnbalancedWallets } from '@tollgate/domain/money-ledger/ledger'
import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TollgateClient } from '../src/client/tollgate-client.ts'
import { createCustomer } from './offers.ts'
import type { StackUnderTest } from './stack-under-test.ts'
import { creditsPerUnit, WalletCaller, type CreditDebit } from './wallet-caller.ts'

type Used = { readonly reference: string; readonly creditDebit?: CreditDebit }

const ledgerTimeoutMs = 60_000
/** The longest tests send hundreds of requests one after the other, on a machine that may be busy. */
const testTimeoutMs = 180_000

/** Tests what wallets promise to clients, with any set of stores. */
export function describeWallets(title: string, createStack: () => Promise<StackUnderTest>): void {
  describe(title, () => {
    let underTest: StackUnderTest
    let client: TollgateClient
    let wallets: WalletCaller
    let productRef: string

    beforeAll(async () => {
      underTest = await createStack()
      client = (await underTest.stack.createProvider()).sandbox
      wallets = await WalletCaller.open(underTest.stack, client, send)
      productRef = wallets.productRef
      // Events of debits are only emitted for providers with an endpoint.
      await rows()`
        insert into webhook_endpoints
          (provider_id, reference, url, status, disabled_reason, disabled_at, created_at, updated_at)
        select provider_id, 'we_WALLETS', 'https://example.com', 'disabled', 'provider', now(), now(), now()
        from products where reference = ${productRef}`
    })
    afterAll(() => underTest.remove())

    const send = async <Body>(method: string, path: string, body?: unknown): Promise<Body> => {
      const answer = await client.send(method, path, body)
      expect([answer.status, answer.body]).toEqual([200, answer.body])
      return answer.body as Body
    }
    const createPayer = (externalRef?: string) => wallets.createPayer(externalRef)
    const grant = (customerRef: string, credits: number, more: object = {}) =>
      wallets.grant(customerRef, credits, more)
    const balanceOf = (customerRef: string) => wallets.balanceOf(customerRef)
    const use = (customerRef: string, more: object = {}): Promise<Used> =>
      client.recordUsage({ customerRef, productRef, ...more })
    const check = (customerRef: string) =>
      send('POST', '/v1/sdk/limits', { customerRef, productRef })

    const rows = () => underTest.stack.database.in('sandbox')
    const eventsOf = (customerRef: string, type: string) =>
      rows()<{ object: { credits: number; amount: number; productRef: string | null } }[]>`
        select object from outbox
        where type = ${`customer.credit.${type}`} and object->>'customerId' = ${customerRef}
        order by sequence`
    /** Waits until the ledger has the balance that clients were shown. */
    const expectPosted = async (customerRef: string, credits: number): Promise<void> => {
      await expect
        .poll(() => wallets.ledgerOf(customerRef), { timeout: ledgerTimeoutMs })
        .toBe(credits)
      expect(await listUnbalancedWallets(rows(), 10)).toEqual([])
    }

    test('debits a call once, and reports it', async () => {
      const customerRef = await createPayer()
      expect(await use(customerRef)).toMatchObject({
        creditDebit: { debited: true, amount: 0, unitsRemaining: 0 },
      })
      expect(await check(customerRef)).toMatchObject({
        withinLimits: false,
        remaining: 0,
        creditBalance: 0,
        balance: { creditBalance: 0, creditsPerUnit, currency: 'USD', remainingUnits: 0 },
      })
      expect(await grant(customerRef, 500)).toEqual({
        success: true,
        customerRef,
        credits: 500,
        balance: 500,
      })
      expect(await check(customerRef)).toMatchObject({ withinLimits: true, remaining: 5 })

      const idempotencyKey = randomUUID()
      const first = await use(customerRef, { idempotencyKey })
      expect(first.creditDebit).toEqual({ debited: true, amount: 100, unitsRemaining: 4 })
      expect(await balanceOf(customerRef)).toBe(400)
      expect(await use(customerRef, { idempotencyKey })).toEqual({
        success: true,
        reference: first.reference,
        creditDebit: { debited: false, reason: 'duplicate' },
      })
      expect(await balanceOf(customerRef)).toBe(400)
      expect(await check(customerRef)).toMatchObject({ remaining: 4, creditBalance: 400 })

      // A failed call costs nothing, and the last call debits only what is left.
      expect((await use(customerRef, { outcome: 'fail' })).creditDebit).toBeUndefined()
      expect((await use(customerRef, { units: 9 })).creditDebit).toEqual({
        debited: true,
        amount: 400,
        unitsRemaining: 0,
      })
      expect(await balanceOf(customerRef)).toBe(0)
      await expectPosted(customerRef, 0)
    })

    test('debits each call of a bulk request', async () => {
      const customerRef = await createPayer()
      await grant(customerRef, 300)
      const call = { customerRef, productRef }
      const { inserted, results } = await client.recordUsages([call, call])
      expect(inserted).toBe(2)
      expect(results.map(({ creditDebit }) => creditDebit)).toEqual([
        { debited: true, amount: 100, unitsRemaining: 2 },
        { debited: true, amount: 100, unitsRemaining: 1 },
      ])
      expect(await balanceOf(customerRef)).toBe(100)
      await send('POST', '/v1/sdk/meter-events', { ...call, value: 0.5 })
      expect(await balanceOf(customerRef)).toBe(50)
      expect(await check(customerRef)).toMatchObject({
        withinLimits: false,
        remaining: 0,
        creditBalance: 50,
      })
      await expectPosted(customerRef, 50)
    })

    test('removes expired credits from balances and limit checks at once, but not from paid calls', async () => {
      const customerRef = await createPayer()
      const expiresAt = new Date(Date.now() + 3_000).toISOString()
      await grant(customerRef, 500, { expiresAt })
      await grant(customerRef, 300)
      expect((await use(customerRef, { units: 2 })).creditDebit?.amount).toBe(200)
      await expect.poll(() => balanceOf(customerRef), { timeout: ledgerTimeoutMs }).toBe(300)
      expect(await check(customerRef)).toMatchObject({ creditBalance: 300, remaining: 3 })
      expect((await use(customerRef, { units: 9 })).creditDebit?.amount).toBe(300)
      await expectPosted(customerRef, 0)
      const [expired] = await rows()<{ amount: string }[]>`
        select amount from ledger_entries
        where account = 'breakage' and customer_ref = ${customerRef}`
      expect(Number(expired?.amount)).toBe(300_000_000)
    })

    test('debits one wallet under every reference of the customer, and keeps keys used', async () => {
      const externalRef = `user-${randomUUID()}`
      const customerRef = await createPayer(externalRef)
      await grant(customerRef, 1_000)
      const idempotencyKey = randomUUID()
      for (const ref of [externalRef, customerRef, externalRef]) await use(ref)
      expect((await use(externalRef, { idempotencyKey })).creditDebit?.amount).toBe(100)
      expect((await use(externalRef, { idempotencyKey })).creditDebit?.reason).toBe('duplicate')
      expect(await balanceOf(externalRef)).toBe(600)
      expect(await check(externalRef)).toMatchObject({ remaining: 6 })
      await expectPosted(customerRef, 600)
    })

    test('does not debit a key that was used before the wallet paid', async () => {
      const externalRef = `user-${randomUUID()}`
      const customerRef = await createCustomer(client, externalRef)
      const idempotencyKey = randomUUID()
      const before = await use(externalRef, { idempotencyKey })
      expect(before.creditDebit).toEqual({ debited: false, reason: 'no_active_purchase' })
      const activated = await wallets.activate(customerRef)
      expect(activated).toMatchObject({ status: 'activated', creditBalance: 0, creditsPerUnit })
      await grant(customerRef, 100)
      const again = await use(externalRef, { idempotencyKey })
      expect(again).toMatchObject({
        reference: before.reference,
        creditDebit: { debited: false, reason: 'duplicate' },
      })
      expect(await balanceOf(customerRef)).toBe(100)
    })

    test(
      'debits each credit once for 1,000 concurrent calls, and loses none',
      async () => {
        const customerRef = await createPayer()
        await grant(customerRef, 40_000)
        const used = await Promise.all(
          Array.from({ length: 1_000 }, (_, index) =>
            use(customerRef, { units: 1 + (index % 2), idempotencyKey: randomUUID() }),
          ),
        )
        const amounts = used.map(({ creditDebit }) => creditDebit!.amount!)
        expect(amounts.reduce((sum, amount) => sum + amount, 0)).toBe(40_000)
        expect(Math.min(...amounts)).toBe(0)
        expect(await balanceOf(customerRef)).toBe(0)
        await expectPosted(customerRef, 0)
        const debited = await eventsOf(customerRef, 'debited')
        expect(debited.reduce((sum, { object }) => sum + object.amount, 0)).toBe(-40_000)
        expect(debited.at(-1)?.object).toMatchObject({ credits: 0, productRef })
        const toldOfCalls = () => rows()<{ calls: number }[]>`
          select count(*)::int as calls from outbox
          where type = 'usage.recorded' and object->>'customer' = ${customerRef}`
        await expect.poll(toldOfCalls, { timeout: ledgerTimeoutMs }).toEqual([{ calls: 1_000 }])
        for (const crossing of ['low_balance', 'exhausted']) {
          expect(await eventsOf(customerRef, crossing)).toHaveLength(1)
        }
        await grant(customerRef, 1_001)
        await use(customerRef, { units: 10 })
        await use(customerRef)
        await expectPosted(customerRef, 0)
        expect(await eventsOf(customerRef, 'exhausted')).toHaveLength(2)
      },
      testTimeoutMs,
    )

    test(
      'matches a model while projections stop and start',
      async () => {
        const random = new SeededRandom(20_261_121)
        const refs = [`user-${randomUUID()}`, `user-${randomUUID()}`]
        const payers = await Promise.all(
          refs.map(async (ref) => {
            const customerRef = await createPayer(ref)
            // If hot state has nothing of a wallet, it must first be certain that nothing was lost, for which the counters are
            // needed.
            await grant(customerRef, 100)
            await use(customerRef)
            return { refs: [ref, customerRef], credits: 0 }
          }),
        )
        const spent = new Map<
          string,
          { payer: (typeof payers)[number]; ref: string; units: number }
        >()
        let isRunning = true
        for (let step = 0; step < 150; step += 1) {
          const payer = random.pick(payers)
          const ref = random.pick(payer.refs)
          const act = random.below(100)
          if (act < 20) {
            const credits = 1 + random.below(900)
            payer.credits += credits
            expect((await grant(ref, credits)).balance).toBe(payer.credits)
          } else if (act < 65) {
            const units = random.below(4)
            const idempotencyKey = random.chance(0.6) ? randomUUID() : undefined
            const amount = Math.min(units * creditsPerUnit, payer.credits)
            payer.credits -= amount
            const { creditDebit } = await use(ref, { units, idempotencyKey })
            const unitsRemaining = Math.floor(payer.credits / creditsPerUnit)
            expect(creditDebit).toEqual({ debited: true, amount, unitsRemaining })
            if (idempotencyKey !== undefined) spent.set(idempotencyKey, { payer, ref, units })
          } else if (act < 80 && spent.size > 0) {
            const [idempotencyKey, first] = random.pick([...spent])
            const { creditDebit } = await use(first.ref, { units: first.units, idempotencyKey })
            expect(creditDebit).toEqual({ debited: false, reason: 'duplicate' })
          } else if (act < 84) {
            if (isRunning) await underTest.stack.stopProjections()
            else await underTest.stack.startProjections()
            isRunning = !isRunning
          } else {
            expect(await balanceOf(ref)).toBe(payer.credits)
          }
        }
        if (!isRunning) await underTest.stack.startProjections()
        for (const { refs, credits } of payers) {
          expect(await balanceOf(refs[0]!)).toBe(credits)
          await expectPosted(refs[1]!, credits)
        }
      },
      testTimeoutMs,
    )
  })
}
