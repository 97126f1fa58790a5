import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openRedisHotState } from '@tollgate/platform/hot-state/redis/redis-hot-state'
import { freePort } from '@tollgate/platform/testing/free-ports'
import { hasRedisServer, RedisServerProcess } from '@tollgate/platform/testing/redis-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TollgateClient } from '../src/client/tollgate-client.ts'
import { createCustomer } from './offers.ts'
import { startStack, type Stack } from './stack.ts'

const changesTotal = Number(process.env['TOLLGATE_TEST_CHANGED_TERMS'] ?? 100)
/** Customers whose plans are changed concurrently. */
const customersTotal = 8
/** Credits that a unit costs under each plan. */
const prices = [1, 2] as const

type Plan = { readonly reference: string; readonly creditsPerUnit: number }

describe.skipIf(!hasRedisServer)('with entitlements cached by ingest', () => {
  let folder: string
  let redis: RedisServerProcess
  const states: HotState[] = []
  let stack: Stack
  let client: TollgateClient
  let productRef: string
  let plans: readonly Plan[]

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-changed-terms-'))
    redis = await RedisServerProcess.start({ folder, port: await freePort() })
    const servers = { url: redis.url }
    const entryCache = { charsMax: 1_000_000, leaseMs: 2_000, replicasMin: 1 }
    const hotState = await openRedisHotState({ servers })
    const ingestHotState = await openRedisHotState({ servers, entryCache })
    states.push(hotState, ingestHotState)
    stack = await startStack({ hotState, ingestHotState, logLevel: 'silent' })
    client = (await stack.createProvider()).sandbox
    productRef = (await client.createProduct({ name: 'Paid by use' })).reference
    const plan = { type: 'usage-based', billingModel: 'pre-paid' }
    plans = await Promise.all(
      prices.map(async (creditsPerUnit) => {
        const named = { ...plan, name: `Unit for ${creditsPerUnit}`, creditsPerUnit }
        return { creditsPerUnit, ...(await client.createPlan(productRef, named)) }
      }),
    )
  })
  afterAll(async () => {
    await stack.stop()
    for (const each of states) await each.close()
    await redis.kill()
    await rm(folder, { recursive: true })
  })

  async function use(customerRef: string): Promise<number | undefined> {
    const usage = { customerRef, productRef, units: 1 }
    const body = (await client.require('POST', '/v1/sdk/usages', usage)) as {
      creditDebit?: { amount?: number }
    }
    return body.creditDebit?.amount
  }

  test(
    `decides no usage by former terms once ${changesTotal} changes are answered`,
    { timeout: 3_600_000 },
    async () => {
      const customers = await Promise.all(
        Array.from({ length: customersTotal }, async () => {
          const customerRef = await createCustomer(client)
          const path = `/v1/sdk/customers/${customerRef}/credits`
          await client.require('POST', path, { credits: 1_000_000_000 })
          return customerRef
        }),
      )
      let isEnded = false
      /** Uses without pause, so that entitlements are cached again at once. */
      const load = async (): Promise<void> => {
        for (let turn = 0; !isEnded; turn += 1) await use(customers[turn % customers.length]!)
      }
      let left = changesTotal
      const change = async (customerRef: string): Promise<void> => {
        for (let turn = 0; left-- > 0; turn += 1) {
          const { reference: planRef, creditsPerUnit } = plans[turn % plans.length]!
          await client.require('POST', '/v1/sdk/activate', { customerRef, productRef, planRef })
          const debits = await Promise.all([use(customerRef), use(customerRef), use(customerRef)])
          expect(debits).toEqual([creditsPerUnit, creditsPerUnit, creditsPerUnit])
        }
      }
      const loads = [load(), load(), load()]
      await Promise.all(customers.map(change)).finally(() => (isEnded = true))
      await Promise.all(loads)
    },
  )
})
