import { jobActor } from '@tollgate/domain/audit/actor'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueApiKey } from '@tollgate/domain/publishing/issue-api-key'
import { revokeApiKey } from '@tollgate/domain/publishing/retire-api-key'
import { createProvider } from '@tollgate/domain/providers/create-provider'
import { readPublicationState } from '@tollgate/domain/publishing/publication-state'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openRedisHotState } from '@tollgate/platform/hot-state/redis/redis-hot-state'
import { freePort } from '@tollgate/platform/testing/free-ports'
import { hasRedisServer, RedisServerProcess } from '@tollgate/platform/testing/redis-server'
import { publishedKinds } from '@tollgate/schemas/hot-state/publications'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { UnexpectedResponseError, type TollgateClient } from '../src/client/tollgate-client.ts'
import { createCappedProduct, createCustomer } from './offers.ts'
import { startStack, type Stack } from './stack.ts'

const cap = 1_000
/** Smaller than the number of records before the loss, so that the counts cannot be rebuilt from the log alone. */
const tailRecordsMax = 20

let folder: string
let redis: RedisServerProcess
let hotState: HotState
let stack: Stack

async function startRedis(port: number): Promise<RedisServerProcess> {
  return await RedisServerProcess.start({ folder, port })
}

describe.skipIf(!hasRedisServer)('while hot state is lost or unavailable', () => {
  let providerId: string
  let client: TollgateClient
  let productRef: string
  let customerRef: string
  let used = 0

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-lost-hot-state-'))
    const port = await freePort()
    redis = await startRedis(port)
    hotState = await openRedisHotState({ servers: { url: redis.url } })
    stack = await startStack({
      hotState,
      logLevel: 'silent',
      settings: {
        TOLLGATE_PUBLISH_INTERVAL_MS: '100',
        TOLLGATE_TAIL_RECORDS_MAX: String(tailRecordsMax),
        TOLLGATE_CACHE_FRESH_MS: '50',
      },
    })
    const fields = { name: 'Test', email: null, defaultCurrency: 'USD' }
    const provider = { ...fields, cycleMode: 'calendar' } as const
    providerId = (
      await createProvider(stack.database, hotState, jobActor('test'), provider, new Date())
    ).providerId
    client = stack.clientWithKey((await issueKey()).secretKey)
    productRef = await createCappedProduct(client, cap)
    customerRef = await createCustomer(client, 'user-1')
    await client.checkLimit(customerRef, productRef)
    used = 0
    await useStoredAndUnstored()
  })
  afterEach(async () => {
    await stack.stop()
    await hotState.close()
    await redis.kill()
    await rm(folder, { recursive: true })
  })

  function issueKey() {
    const key = { providerId, environment: 'sandbox', name: null, expiresAt: null } as const
    return issueApiKey(stack.database, hotState, jobActor('test'), key, new Date())
  }

  async function recordUsage(
    reference: string,
    units: number,
    idempotencyKey?: string,
  ): Promise<void> {
    const key = idempotencyKey === undefined ? {} : { idempotencyKey }
    await client.recordUsage({ customerRef: reference, productRef, units, ...key })
  }

  /** Records usage, some of which is stored in ClickHouse and some only in the log. Afterwards no projection runs. */
  async function useStoredAndUnstored(): Promise<void> {
    for (let each = 0; each < tailRecordsMax + 10; each += 1) await recordUsage('user-1', 1)
    await recordUsage(customerRef, 7, 'stored')
    used += tailRecordsMax + 10 + 7
    const day = 86_400_000
    const stored = await client.meterUsage(await client.requestsMeter(), {
      from: new Date(Date.now() - day).toISOString(),
      to: new Date(Date.now() + day).toISOString(),
    })
    expect(stored.total).toBe(used)
    await stack.stopProjections()
    await recordUsage(customerRef, 7, 'stored')
    await recordUsage(customerRef, 5, 'new')
    await recordUsage(customerRef, 5, 'new')
    await recordUsage('user-1', 2)
    used += 5 + 2
  }

  /** Checks the limit under both references, with usage in between. */
  async function expectExact(): Promise<void> {
    expect((await client.checkLimit('user-1', productRef)).remaining).toBe(cap - used)
    await recordUsage('user-1', 3)
    used += 3
    expect((await client.checkLimit(customerRef, productRef)).remaining).toBe(cap - used)
  }

  /** Returns the status of a first request with a key, which the data plane has not cached. */
  async function statusWith(secretKey: string): Promise<number> {
    const stranger = stack.clientWithKey(secretKey)
    const usage = { customerRef: 'nobody in particular' }
    return await stranger.recordUsage(usage).then(
      () => 200,
      (error: unknown) => {
        if (error instanceof UnexpectedResponseError) return error.status
        throw error
      },
    )
  }

  async function expectAllPublished(): Promise<void> {
    const parts = { hotState, partitionCount: () => 4 }
    const published = async () => {
      const { progress, lostPartitions } = await readPublicationState(parts)
      return [progress?.published, lostPartitions]
    }
    await expect.poll(published, { timeout: 10_000 }).toEqual([publishedKinds, []])
  }

  async function storedAnswers(): Promise<number> {
    const page = await (await fetch(`${stack.controlPlaneAdminUrl}/metrics`)).text()
    const line = /^tollgate_control_period_usage_total\{.*source="stored".*\} (\d+)$/m.exec(page)
    return Number(line?.[1] ?? 0)
  }

  test('after a wipe, records usage, answers limit checks exactly, and still checks keys correctly', async () => {
    const valid = await issueKey()
    const revoked = await issueKey()
    await revokeApiKey(stack.database, hotState, jobActor('test'), revoked.key, new Date())
    await redis.call('FLUSHALL')
    for (let round = 0; round < 5; round += 1) {
      await expectExact()
      expect(await statusWith(valid.secretKey)).toBe(200)
      expect(await statusWith(revoked.secretKey)).toBe(401)
    }
    expect(await storedAnswers()).toBe(10)
    await expectAllPublished()
    expect(await statusWith(valid.secretKey)).toBe(200)
    expect(await statusWith(revoked.secretKey)).toBe(401)

    await stack.startProjections()
    await expectExact()
  })

  test('without Redis, records usage and answers limit checks exactly, and fills a new Redis again', async () => {
    const { port } = redis
    const neverSeen = await issueKey()
    await redis.kill()
    expect(await statusWith(neverSeen.secretKey)).toBe(200)
    await expectExact()
    await expectExact()
    redis = await startRedis(port)
    await expectAllPublished()
    await expectExact()
    await stack.startProjections()
    await expectExact()
  })
})
