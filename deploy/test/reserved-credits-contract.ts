import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { listUnbalancedWallets } from '@tollgate/domain/money-ledger/ledger'
import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import { beforeAll, expect, test } from 'vitest'
import type { LimitResponse, TollgateClient } from '../src/client/tollgate-client.ts'
import type { Stack } from './stack.ts'
import { creditsPerUnit, WalletCaller, type CreditDebit, type Send } from './wallet-caller.ts'

type ReserveAnswer = LimitResponse & {
  readonly creditBalance?: number
  readonly reservation?: { readonly id: string; readonly units: number; readonly expiresAt: string }
}

type StackOfProvider = { readonly stack: Stack; readonly client: TollgateClient }

const ledgerTimeoutMs = 60_000

/** Tests what reservations promise to clients on plans that are paid from a wallet. */
export function describeReservedCredits(opened: () => StackOfProvider): void {
  let client: TollgateClient
  let wallets: WalletCaller
  let productRef: string

  beforeAll(async () => {
    client = opened().client
    wallets = await WalletCaller.open(opened().stack, client, send)
    productRef = wallets.productRef
  })

  /** Sends a request until it is not answered with 503, because counters may lag on a busy machine. */
  const send: Send = async <Body>(method: string, path: string, body?: unknown): Promise<Body> => {
    for (;;) {
      const answer = await client.send(method, path, body)
      if (answer.status !== 503) {
        expect([answer.status, answer.body]).toEqual([200, answer.body])
        return answer.body as Body
      }
      await sleep(100)
    }
  }
  const reserve = (customerRef: string, units = 1, ttlSeconds = 600, product = productRef) => {
    const request = { customerRef, productRef: product, reserve: { units, ttlSeconds } }
    const body = { ...request, idempotencyKey: randomUUID() }
    return send<ReserveAnswer>('POST', '/v1/sdk/limits', body)
  }
  const release = (reservationId: string) =>
    send<object>('POST', '/v1/sdk/limits/release', { reservationId })
  const use = async (customerRef: string, more: object = {}): Promise<CreditDebit | undefined> => {
    const body = { customerRef, productRef, idempotencyKey: randomUUID(), ...more }
    return (await send<{ creditDebit?: CreditDebit }>('POST', '/v1/sdk/usages', body)).creditDebit
  }
  const check = (customerRef: string, product = productRef) =>
    send<ReserveAnswer>('POST', '/v1/sdk/limits', { customerRef, productRef: product })
  const createPayer = async (credits: number): Promise<string> => {
    const customerRef = await wallets.createPayer()
    await wallets.grant(customerRef, credits)
    return customerRef
  }
  const expectBalance = async (customerRef: string, credits: number): Promise<void> => {
    await expect.poll(() => wallets.balanceOf(customerRef)).toBe(credits)
    await expect
      .poll(() => wallets.ledgerOf(customerRef), { timeout: ledgerTimeoutMs })
      .toBe(credits)
    expect(await listUnbalancedWallets(opened().stack.database.in('sandbox'), 10)).toEqual([])
  }
  const outlive = async (answers: readonly ReserveAnswer[]): Promise<void> => {
    const expiries = answers.map(({ reservation }) => Date.parse(reservation!.expiresAt))
    await sleep(Math.max(...expiries) - Date.now() + 20)
  }

  test('admits 100 of 1,000 callers at once when the wallet has credits for 100 calls', async () => {
    const customerRef = await createPayer(100 * creditsPerUnit + 99)
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, () => reserve(customerRef, 1, 600)),
    )
    const admitted = answers.filter(({ withinLimits }) => withinLimits)
    expect(admitted).toHaveLength(100)
    for (const { withinLimits, reservation, plans } of answers) {
      expect(reservation !== undefined).toBe(withinLimits)
      if (!withinLimits) expect(plans).toHaveLength(1)
    }
    expect(await wallets.balanceOf(customerRef)).toBe(99)
    expect(await check(customerRef)).toMatchObject({ withinLimits: false, remaining: 0 })

    const held = admitted.map(({ reservation }) => reservation!.id)
    const [used, released, failed] = [held.slice(0, 60), held.slice(60, 90), held.slice(90)]
    const [debits] = await Promise.all([
      Promise.all(used.map((reservationId) => use(customerRef, { reservationId }))),
      Promise.all(released.map((id) => release(id))),
      Promise.all(failed.map((id) => use(customerRef, { reservationId: id, outcome: 'fail' }))),
    ])
    expect(new Set(debits.map((debit) => debit!.amount))).toEqual(new Set([creditsPerUnit]))
    await expectBalance(customerRef, 40 * creditsPerUnit + 99)
  }, 180_000)

  test('debits the reserved credits, whether the call costs less or more', async () => {
    const customerRef = await createPayer(1_000)
    const ids: string[] = []
    for (const units of [2, 3, 4]) {
      const answer = await reserve(customerRef, units)
      expect(answer).toMatchObject({ withinLimits: true, reservation: { units } })
      ids.push(answer.reservation!.id)
    }
    expect(await reserve(customerRef, 2)).toMatchObject({
      withinLimits: false,
      remaining: 1,
      creditBalance: 100,
    })
    expect(await check(customerRef)).toMatchObject({ withinLimits: true, remaining: 1 })
    const [exact, less, more] = ids
    expect(await use(customerRef, { units: 2, reservationId: exact })).toEqual({
      debited: true,
      amount: 200,
      unitsRemaining: 1,
    })
    // A second call that names the reservation can no longer use it.
    expect((await use(customerRef, { units: 2, reservationId: exact }))?.amount).toBe(100)
    const cheap = await use(customerRef, { units: 1, reservationId: less })
    expect(cheap).toMatchObject({ amount: 100, unitsRemaining: 2 })
    const dear = await use(customerRef, { units: 5, reservationId: more })
    expect(dear).toMatchObject({ amount: 500, unitsRemaining: 1 })
    // A new reservation waits for the counters, which end the units held by used reservations.
    const last = await reserve(customerRef)
    expect(await release(last.reservation!.id)).toEqual({ success: true, released: true })
    expect(await release(more!)).toEqual({ success: true, released: false })
    await expectBalance(customerRef, 100)
  })

  test('gives credits back when a reservation is released or expires, and late usage still pays', async () => {
    const customerRef = await createPayer(500)
    const released = await reserve(customerRef, 5)
    expect(await reserve(customerRef)).toMatchObject({ withinLimits: false, remaining: 0 })
    expect((await use(customerRef))?.amount).toBe(0)
    expect(await release(released.reservation!.id)).toEqual({ success: true, released: true })
    expect(await wallets.balanceOf(customerRef)).toBe(500)

    const expiring = await reserve(customerRef, 5, 1)
    expect(expiring.withinLimits).toBe(true)
    await outlive([expiring])
    expect(await wallets.balanceOf(customerRef)).toBe(500)
    expect((await use(customerRef, { units: 4 }))?.amount).toBe(400)
    const late = await use(customerRef, { units: 5, reservationId: expiring.reservation!.id })
    expect(late).toMatchObject({ debited: true, amount: 100 })
    await expectBalance(customerRef, 0)
  })

  test('reserves under the cap of the plan as well as in the wallet', async () => {
    const { reference: capped } = await client.createProduct({ name: 'Paid by use, capped' })
    const plan = { name: 'Ten', type: 'usage-based', creditsPerUnit, limit: 10 }
    const { reference: planRef } = await client.createPlan(capped, plan)
    const customerRef = await createPayer(800)
    await send('POST', '/v1/sdk/activate', { customerRef, productRef: capped, planRef })
    const first = await reserve(customerRef, 6, 600, capped)
    expect(first).toMatchObject({ withinLimits: true, remaining: 2, creditBalance: 200 })
    expect(await reserve(customerRef, 3, 600, capped)).toMatchObject({ withinLimits: false })
    await wallets.grant(customerRef, 1_000)
    expect(await reserve(customerRef, 5, 600, capped)).toMatchObject({
      withinLimits: false,
      remaining: 4,
      creditBalance: 1_200,
    })
    expect(await wallets.balanceOf(customerRef)).toBe(1_200)
    expect(await reserve(customerRef, 4, 600, capped)).toMatchObject({ withinLimits: true })
    await release(first.reservation!.id)
    expect(await reserve(customerRef, 6, 600, capped)).toMatchObject({ withinLimits: true })
  })

  test('adds up to the balance after any mixture of use, release and expiry', async () => {
    const random = new SeededRandom(20_261_123)
    const customerRef = await createPayer(3_000)
    let paid = 0
    const expiring: ReserveAnswer[] = []
    const call = async (): Promise<void> => {
      const units = 1 + random.below(3)
      const isLeft = random.chance(0.2)
      const answer = await reserve(customerRef, units, isLeft ? 2 : 600)
      if (!answer.withinLimits) return
      if (isLeft) {
        expiring.push(answer)
      } else if (random.chance(0.3)) {
        await release(answer.reservation!.id)
      } else {
        const used = random.below(5)
        const reservationId = answer.reservation!.id
        const debit = await use(customerRef, { units: used, reservationId })
        expect(debit!.amount).toBeGreaterThanOrEqual(Math.min(used, units) * creditsPerUnit)
        paid += debit!.amount!
      }
    }
    const work = async (): Promise<void> => {
      for (let calls = 0; calls < 10; calls += 1) await call()
    }
    await Promise.all(Array.from({ length: 8 }, work))
    if (expiring.length > 0) await outlive(expiring)
    expect(paid).toBeLessThanOrEqual(3_000)
    await expectBalance(customerRef, 3_000 - paid)
  }, 180_000)
}
