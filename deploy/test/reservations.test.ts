import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LimitAnswer, TollgateClient } from '../src/client/tollgate-client.ts'
import { createCappedProduct, createCustomer } from './offers.ts'
import { startStack, type Stack } from './stack.ts'

type ReserveAnswer = LimitAnswer & {
  readonly reservation?: { readonly id: string; readonly expiresAt: string }
}

const cap = 100
const callers = 1_000

/** As on Redis, where ingest writes to hot state, and as on the embedded one, where only the control plane does. */
describe.each(['ingest', 'the control plane'])('reserved by %s', (by) => {
  let folder: string
  let hotState: HotState
  let reader: HotState
  let stack: Stack
  let client: TollgateClient

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-reservations-'))
    hotState = await openLmdbHotState({ folder, role: 'projection' })
    reader = await openLmdbHotState({ folder, role: 'reader' })
    stack = await startStack({ hotState, ingestHotState: by === 'ingest' ? hotState : reader })
    client = (await stack.createProvider()).sandbox
  })

  afterAll(async () => {
    await stack.stop()
    await reader.close()
    await hotState.close()
    await rm(folder, { recursive: true, force: true })
  })

  const post = async (path: string, body: object): Promise<unknown> => {
    const answer = await client.send('POST', path, body)
    expect([answer.status, answer.body]).toEqual([200, answer.body])
    return answer.body
  }
  const reserve = async (customerRef: string, productRef: string, ttlSeconds = 600) =>
    (await post('/v1/sdk/limits', {
      customerRef,
      productRef,
      reserve: { units: 1, ttlSeconds },
    })) as ReserveAnswer
  const release = (reservationId: string) => post('/v1/sdk/limits/release', { reservationId })

  const reserveAtOnce = async (customerRef: string, productRef: string, ttlSeconds?: number) => {
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

  test('of 1,000 who ask at once a cap of 100 admits 100, whose usage takes the place of what they hold', async () => {
    const productRef = await createCappedProduct(client, cap)
    const customerRef = await createCustomer(client)
    const held = await reserveAtOnce(customerRef, productRef)
    expect(held).toHaveLength(cap)
    expect(new Set(held.map(({ id }) => id)).size).toBe(cap)
    expect((await client.checkLimit(customerRef, productRef)).remaining).toBe(cap)

    const [failed, released, ...used] = held.map(({ id }) => id)
    const use = (reservationId: string, more: object = {}) =>
      client.recordUsage({ customerRef, productRef, reservationId, ...more })
    // Each twice, with one key: the second one is a duplicate, which ends and counts nothing.
    const twice = used.flatMap((id) => [id, id])
    await Promise.all(twice.map((id) => use(id, { idempotencyKey: id })))
    expect(await reserveAtOnce(customerRef, productRef)).toEqual([])
    await use(failed!, { outcome: 'fail' })
    expect(await release(released!)).toEqual({ success: true, released: true })
    expect(await release(used[0]!)).toEqual({ success: true, released: false })
    expect(await reserveAtOnce(customerRef, productRef)).toHaveLength(2)
    expect((await client.checkLimit(customerRef, productRef)).remaining).toBe(2)
  }, 120_000)

  test('reservations whose usage never comes are open to others once they have expired', async () => {
    const productRef = await createCappedProduct(client, cap)
    const customerRef = await createCustomer(client)
    const held = await reserveAtOnce(customerRef, productRef, 20)
    expect(held).toHaveLength(cap)
    const lastExpiry = Math.max(...held.map(({ expiresAt }) => Date.parse(expiresAt)))
    await sleep(lastExpiry - Date.now() + 10)
    expect(await reserveAtOnce(customerRef, productRef)).toHaveLength(cap)
  }, 120_000)

  test('a customer of several references is admitted as often as the cap says, whichever are used', async () => {
    const random = new SeededRandom(7)
    const productRef = await createCappedProduct(client, cap)
    const customerRef = await createCustomer(client, `first_${by}`)
    const refs = [customerRef, `first_${by}`]
    for (const externalRef of [`second_${by}`, `third_${by}`, `fourth_${by}`]) {
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
        await client.recordUsage({ customerRef: random.pick(refs), productRef, reservationId: id })
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
