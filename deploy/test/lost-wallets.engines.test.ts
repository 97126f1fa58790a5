import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { listUnbalancedWallets } from '@tollgate/domain/money-ledger/ledger'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openRedisHotState } from '@tollgate/platform/hot-state/redis/redis-hot-state'
import { freePort } from '@tollgate/platform/testing/free-ports'
import { hasRedisServer, RedisServerProcess } from '@tollgate/platform/testing/redis-server'
import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { TollgateClient } from '../src/client/tollgate-client.ts'
import { startStack, type Stack } from './stack.ts'
import { creditsPerUnit, WalletCaller, type CreditDebit } from './wallet-caller.ts'

const patienceMs = 60_000
/** The tests wait for the recovery of all lost data, and the machine may be busy. */
const testTimeoutMs = 180_000

describe.skipIf(!hasRedisServer)('wallets after a loss of hot state', () => {
  let folder: string
  let redis: RedisServerProcess
  let hotState: HotState
  let stack: Stack
  let client: TollgateClient
  let wallets: WalletCaller
  let productRef: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-lost-wallets-'))
    const port = await freePort()
    redis = await RedisServerProcess.start({ folder, port })
    hotState = await openRedisHotState({ servers: { url: redis.url } })
    stack = await startStack({
      hotState,
      logLevel: 'silent',
      settings: { TOLLGATE_PUBLISH_INTERVAL_MS: '100', TOLLGATE_CACHE_FRESH_MS: '50' },
    })
    client = (await stack.createProvider()).sandbox
    wallets = await WalletCaller.open(stack, client, useWithRetries)
    productRef = wallets.productRef
  })
  afterEach(async () => {
    await stack.stop()
    await hotState.close()
    await redis.kill()
    await rm(folder, { recursive: true })
  })

  /** Sends a request as a client does: repeats it after a 503, with the same key. */
  async function useWithRetries<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const deadline = Date.now() + patienceMs
    for (;;) {
      const answer = await client.send(method, path, body)
      if (answer.status === 200) return answer.body as Body
      expect([503, answer.body]).toEqual([answer.status, answer.body])
      if (Date.now() > deadline) throw new Error(`${method} ${path} is refused for too long`)
      await sleep(50)
    }
  }

  const createPayer = (externalRef: string) => wallets.createPayer(externalRef)
  const grant = (customerRef: string, credits: number) => wallets.grant(customerRef, credits)
  const balanceOf = (customerRef: string) => wallets.balanceOf(customerRef)
  const ledgerOf = (customerRef: string) => wallets.ledgerOf(customerRef)

  async function use(
    customerRef: string,
    units: number,
    idempotencyKey: string,
  ): Promise<CreditDebit> {
    const usage = { customerRef, productRef, units, idempotencyKey }
    return (await useWithRetries<{ creditDebit: CreditDebit }>('POST', '/v1/sdk/usages', usage))
      .creditDebit
  }

  test(
    'have exact balances from the ledger, ClickHouse and the log, and pay again once rebuilt',
    async () => {
      const customerRef = await createPayer('user-1')
      await grant(customerRef, 1_000)
      await use('user-1', 2, 'stored')
      await expect.poll(() => ledgerOf(customerRef), { timeout: patienceMs }).toBe(800)
      await stack.stopProjections()
      await use(customerRef, 3, 'in the log alone')
      expect(await balanceOf(customerRef)).toBe(500)

      await redis.call('FLUSHALL')
      expect(await balanceOf(customerRef)).toBe(500)
      const refused = await client.send('POST', '/v1/sdk/usages', { customerRef, productRef })
      expect(refused.status).toBe(503)
      expect(await balanceOf(customerRef)).toBe(500)

      await stack.startProjections()
      expect(await use('user-1', 1, 'after')).toMatchObject({ debited: true, amount: 100 })
      expect(await use(customerRef, 3, 'in the log alone')).toMatchObject({ debited: false })
      expect(await balanceOf(customerRef)).toBe(400)
      await expect.poll(() => ledgerOf(customerRef), { timeout: patienceMs }).toBe(400)
    },
    testTimeoutMs,
  )

  test(
    'match a model, whatever is lost at any time',
    async () => {
      const random = new SeededRandom(4_711)
      const payers = await Promise.all(
        ['user-a', 'user-b'].map(async (ref) => ({
          refs: [ref, await createPayer(ref)],
          credits: 0,
        })),
      )
      const spent = new Map<string, { ref: string; units: number }>()
      for (let step = 0; step < 120; step += 1) {
        const payer = random.pick(payers)
        const ref = random.pick(payer.refs)
        const act = random.below(100)
        if (act < 20) {
          const credits = 1 + random.below(900)
          payer.credits += credits
          await grant(ref, credits)
        } else if (act < 65) {
          const units = random.below(4)
          const idempotencyKey = randomUUID()
          const amount = Math.min(units * creditsPerUnit, payer.credits)
          payer.credits -= amount
          expect(await use(ref, units, idempotencyKey)).toMatchObject({ debited: true, amount })
          spent.set(idempotencyKey, { ref, units })
        } else if (act < 80 && spent.size > 0) {
          const [idempotencyKey, first] = random.pick([...spent])
          expect(await use(first.ref, first.units, idempotencyKey)).toEqual({
            debited: false,
            reason: 'duplicate',
          })
        } else if (act < 85) {
          await redis.call('FLUSHALL')
        } else {
          expect(await balanceOf(ref)).toBe(payer.credits)
        }
      }
      for (const { refs, credits } of payers) {
        expect(await balanceOf(refs[0]!)).toBe(credits)
        await expect.poll(() => ledgerOf(refs[1]!), { timeout: patienceMs }).toBe(credits)
      }
      expect(await listUnbalancedWallets(stack.database.in('sandbox'), 10)).toEqual([])
    },
    testTimeoutMs,
  )
})
