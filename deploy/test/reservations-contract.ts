import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LimitResponse, TollgateClient } from '../src/client/tollgate-client.ts'
import { describeReservedCredits } from './reserved-credits-contract.ts'
import { createCappedProduct, createCustomer } from './offers.ts'
import type { StackUnderTest } from './stack-under-test.ts'

type ReserveAnswer = LimitResponse & {
  readonly reservation?: { readonly id: string; readonly expiresAt: string }
}

const cap = 100

/** Tests what reservations promise to clients, with any set of stores. */
export function describeReservations(
  title: string,
  createStack: () => Promise<StackUnderTest>,
): void {
  describe(title, () => {
    let underTest: StackUnderTest
    let client: TollgateClient

    beforeAll(async () => {
      underTest = await createStack()
      client = (await underTest.stack.createProvider()).sandbox
    })

    afterAll(() => underTest.remove())

    describe('on a plan that is paid from a wallet', () => {
      describeReservedCredits(() => ({ stack: underTest.stack, client }))
    })

    /**
     * Reserves with a key, so that the request can be repeated when the answer asks for that: counters may lag on a busy machine.
     */
    const reserve = async (customerRef: string, productRef: string, ttlSeconds = 600) => {
      const body = {
        customerRef,
        productRef,
        idempotencyKey: randomUUID(),
        reserve: { units: 1, ttlSeconds },
      }
      for (;;) {
        const answer = await client.send('POST', '/v1/sdk/limits', body)
        if (answer.status !== 503) {
          expect([answer.status, answer.body]).toEqual([200, answer.body])
          return answer.body as ReserveAnswer
        }
        await sleep(100)
      }
    }
    const release = async (reservationId: string): Promise<unknown> => {
      const answer = await client.send('POST', '/v1/sdk/limits/release', { reservationId })
      expect(answer.status).toBe(200)
      return answer.body
    }

    const reserveAtOnce = async (
      customerRef: string,
      productRef: string,
      { callers = 1_000, ttlSeconds = 600 } = {},
    ) => {
      const answers = await Promise.all(
        Array.from({ length: callers }, () => reserve(customerRef, productRef, ttlSeconds)),
      )
      const admitted = answers.filter((answer) => answer.withinLimits)
      for (const answer of answers) {
        expect(answer.reservation !== undefined).toBe(answer.withinLimits)
        if (!answer.withinLimits) expect(answer.plans).toHaveLength(1)
      }
      return admitted.map((answer) => answer.reservation!)
    }

    test('admits 100 of 1,000 concurrent reservations under a cap of 100, whose usage replaces the holds', async () => {
      const productRef = await createCappedProduct(client, cap)
      const customerRef = await createCustomer(client)
      const held = await reserveAtOnce(customerRef, productRef)
      expect(held).toHaveLength(cap)
      expect(new Set(held.map(({ id }) => id)).size).toBe(cap)
      expect((await client.checkLimit(customerRef, productRef)).remaining).toBe(cap)

      const [failed, released, ...used] = held.map(({ id }) => id)
      const use = (reservationId: string, more: object = {}) =>
        client.recordUsage({ customerRef, productRef, reservationId, ...more })
      // Each request is sent twice with one key. The second is a duplicate, which ends no reservation and counts nothing.
      const twice = used.flatMap((id) => [id, id])
      await Promise.all(twice.map((id) => use(id, { idempotencyKey: id })))
      expect(await reserveAtOnce(customerRef, productRef, { callers: 2 * cap })).toEqual([])
      await use(failed!, { outcome: 'fail' })
      expect(await release(released!)).toEqual({ success: true, released: true })
      expect(await release(used[0]!)).toEqual({ success: true, released: false })
      expect(await reserveAtOnce(customerRef, productRef, { callers: 2 * cap })).toHaveLength(2)
      expect((await client.checkLimit(customerRef, productRef)).remaining).toBe(2)
    }, 120_000)

    test('frees reservations without usage once they have expired', async () => {
      const productRef = await createCappedProduct(client, cap)
      const customerRef = await createCustomer(client)
      // There are only as many callers as there is room: on a busy machine, the first reservation may expire before the last
      // request.
      const held = await reserveAtOnce(customerRef, productRef, { callers: cap, ttlSeconds: 2 })
      expect(held).toHaveLength(cap)
      const lastExpiry = Math.max(...held.map(({ expiresAt }) => Date.parse(expiresAt)))
      await sleep(lastExpiry - Date.now() + 10)
      expect(await reserveAtOnce(customerRef, productRef, { callers: 2 * cap })).toHaveLength(cap)
    }, 120_000)

    test('applies one cap to all references of a customer', async () => {
      const random = new SeededRandom(7)
      const productRef = await createCappedProduct(client, cap)
      const customerRef = await createCustomer(client, 'first')
      const refs = [customerRef, 'first']
      for (const externalRef of ['second', 'third', 'fourth']) {
        const path = `/v1/sdk/customers/${customerRef}`
        expect((await client.send('PATCH', path, { externalRef })).status).toBe(200)
        refs.push(externalRef)
      }
      let used = 0
      let held = 0
      const call = async (): Promise<void> => {
        const { reservation } = await reserve(random.pick(refs), productRef)
        if (reservation === undefined) return
        held += 1
        expect(held + used).toBeLessThanOrEqual(cap)
        const { id } = reservation
        if (random.chance(0.2)) {
          expect(await release(id)).toEqual({ success: true, released: true })
        } else {
          await client.recordUsage({
            customerRef: random.pick(refs),
            productRef,
            reservationId: id,
          })
          used += 1
        }
        held -= 1
      }
      const work = async (): Promise<void> => {
        while (used < cap) await call()
        for (let again = 0; again < 10; again++) await call()
      }
      await Promise.all(Array.from({ length: 16 }, work))
      expect(used).toBe(cap)
      expect((await client.checkLimit(customerRef, productRef)).remaining).toBe(0)
    }, 120_000)
  })
}
