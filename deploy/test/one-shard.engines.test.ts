import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueApiKey } from '@tollgate/domain/publishing/issue-api-key'
import { jobActor } from '@tollgate/domain/audit/actor'
import { createProvider } from '@tollgate/domain/providers/create-provider'
import { readPublicationState } from '@tollgate/domain/publishing/publication-state'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { slotOf } from '@tollgate/platform/hot-state/redis/hash-slot'
import { openRedisHotState } from '@tollgate/platform/hot-state/redis/redis-hot-state'
import { withCalls } from '@tollgate/platform/observability/traced-call'
import { RedisTestCluster } from '@tollgate/platform/testing/redis-cluster'
import { hasRedisServer } from '@tollgate/platform/testing/redis-server'
import { apiKeyDocumentKey, type KnownCustomer } from '@tollgate/schemas/hot-state/documents'
import { publicationsStartKey, publishedKinds } from '@tollgate/schemas/hot-state/publications'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { TollgateClient } from '../src/client/tollgate-client.ts'
import { createCappedProduct, createCustomer } from './offers.ts'
import { startStack, type Stack } from './stack.ts'

const timeout = 120_000

describe.skipIf(!hasRedisServer)('a failover of one master of a Redis Cluster', () => {
  let folder: string
  let cluster: RedisTestCluster
  let hotState: HotState
  let stack: Stack
  let providerId: string
  let client: TollgateClient
  let partitionCount: number
  /** Keys of documents, and customers with new entries, since the last failover. */
  let documents: Set<string>
  let customers: Set<string>
  /** Digests of all keys, and all references by customer. */
  let keys: string[]
  let references: Map<string, readonly string[]>

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-one-shard-'))
    cluster = await RedisTestCluster.start(folder)
    hotState = await openRedisHotState({ servers: { clusterNodes: cluster.addresses } })
    documents = new Set()
    customers = new Set()
    keys = []
    references = new Map()
    stack = await startStack({
      hotState: recordingWrites(hotState),
      logLevel: 'silent',
      settings: { TOLLGATE_PUBLISH_INTERVAL_MS: '100' },
    })
    partitionCount = stack.eventLog.partitionCount(usageTopic('sandbox'))
    const fields = { name: 'Test', email: null, defaultCurrency: 'USD' }
    const provider = { ...fields, cycleMode: 'calendar' } as const
    const actor = jobActor('test')
    const made = await createProvider(stack.database, hotState, actor, provider, new Date())
    providerId = made.providerId
    client = stack.clientWithKey(await issueKey())
    await createCappedProduct(client, 1_000)
  }, timeout)
  afterEach(async () => {
    await stack.stop()
    await hotState.close()
    await cluster.stop()
    await rm(folder, { recursive: true })
  }, timeout)

  function recordingWrites(hot: HotState): HotState {
    return withCalls<HotState>(hot, {
      putDocument: (key, document) => {
        if (!key.startsWith('publications/')) documents.add(key)
        return hot.putDocument(key, document)
      },
      putEntries: (space, partition, entries) => {
        for (const { scope, document } of entries) {
          if (scope === '') customers.add((JSON.parse(document) as KnownCustomer).customerRef)
        }
        return hot.putEntries(space, partition, entries)
      },
    })
  }

  async function issueKey(): Promise<string> {
    const key = { providerId, environment: 'sandbox', name: null, expiresAt: null } as const
    const issued = await issueApiKey(stack.database, hotState, jobActor('test'), key, new Date())
    keys.push(issued.key.sha256)
    return issued.secretKey
  }

  /** Creates customers with 2 references each, and API keys. */
  async function makeSome(count: number): Promise<void> {
    for (let made = 0; made < count; made += 1) {
      const external = `user-${references.size}`
      const customerRef = await createCustomer(client, external)
      references.set(customerRef, [customerRef, external])
      await issueKey()
    }
  }

  async function untilPublished(): Promise<void> {
    const parts = { hotState, partitionCount: () => partitionCount }
    const published = async () => {
      const { progress, lostPartitions } = await readPublicationState(parts)
      return [progress?.published, lostPartitions]
    }
    await expect
      .poll(() => published().catch(String), { timeout: 60_000 })
      .toEqual([publishedKinds, []])
  }

  function placeOf(reference: string) {
    const subject = subjectKey(providerId, reference)
    const partition = partitionOf(subject, partitionCount)
    return { space: 'sandbox', partition, subject, scope: '' }
  }

  test('publishes only the documents of that master again', { timeout }, async () => {
    await makeSome(25)
    await untilPublished()
    const nameOf = (key: string): string => `tollgate:document:${key}`
    const shard = await cluster.masterOf(nameOf(publicationsStartKey))
    const isThere = async (name: string): Promise<boolean> => {
      expect(slotOf(name)).toBe(await cluster.slotOf(name))
      return (await cluster.masterOf(name)) === shard
    }

    await cluster.cutOffReplica(shard)
    await makeSome(10)
    const before = await hotState.incarnation()
    documents.clear()
    customers.clear()
    await cluster.masters[shard]!.server.kill()
    await cluster.takeOver(shard)
    await expect
      .poll(() => hotState.incarnation().catch(() => before), { timeout: 30_000 })
      .not.toBe(before)
    await untilPublished()

    for (const key of documents) expect([key, await isThere(nameOf(key))]).toEqual([key, true])
    const keyDocuments = keys.map(apiKeyDocumentKey)
    for (const key of keyDocuments) {
      expect(await hotState.readDocument(key)).toBeDefined()
      expect(documents.has(key)).toBe(await isThere(nameOf(key)))
    }
    const others = keyDocuments.filter((key) => !documents.has(key))
    expect(Math.min(others.length, documents.size)).toBeGreaterThan(0)
    const due = new Set<string>()
    for (const [customerRef, all] of references) {
      for (const reference of all) {
        const at = placeOf(reference)
        expect(await hotState.readEntryDocument(at)).toBe(JSON.stringify({ customerRef }))
        if (await isThere(`{tollgate:${at.space}:${at.partition}}`)) due.add(customerRef)
      }
    }
    expect(customers).toEqual(due)
    expect(due.size).toBeGreaterThan(0)
    expect(due.size).toBeLessThan(references.size)
  })
})
