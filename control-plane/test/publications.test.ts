import { jobActor } from '@tollgate/domain/audit/actor'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { issueApiKey } from '@tollgate/domain/publishing/issue-api-key'
import { revokeApiKey } from '@tollgate/domain/publishing/retire-api-key'
import { sha256OfSecretKey } from '@tollgate/domain/api-keys/secret-key'
import { readPublicationState } from '@tollgate/domain/publishing/publication-state'
import { insertPublication } from '@tollgate/domain/publications/repository'
import {
  apiKeyDocumentKey,
  metersDocumentKey,
  offerDocumentKey,
  type PublishedMeters,
} from '@tollgate/schemas/hot-state/documents'
import {
  publicationsProgressKey,
  publicationsStartKey,
  publicationsSubject,
  publishedKinds,
  type PublicationsStart,
} from '@tollgate/schemas/hot-state/publications'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { MeterBody } from '@tollgate/schemas/http/meters'
import type { ProductBody } from '@tollgate/schemas/http/products'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { hookWrites } from '../src/testing/around-writes.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'
import { pendingTargets } from './waiting-targets.ts'

let stack: TestStack
let tenant: Tenant
/** A customer whose entry the hot state always refuses. */
const poison = 'cus_poison'
let partitionCount: number
/** While this is true, the stack's hot state refuses all writes, as if the process had died after the commit. */
let isDown = false

beforeAll(async () => {
  stack = await startTestStack({
    settings: { TOLLGATE_PUBLISH_INTERVAL_MS: '3600000' },
    wrapHotState: refuseWhile(() => isDown),
  })
  tenant = await stack.createTenant()
  partitionCount = stack.eventLog.partitionCount(usageTopic('sandbox'))
})
afterAll(() => stack.stop())

/** Wraps the real hot state. It refuses writes while `down` returns true. */
function refuseWhile(down: () => boolean): (hotState: HotState) => HotState {
  return (hotState) =>
    hookWrites(hotState, async (runWrite, given) => {
      const isRefused = down() || JSON.stringify(given).includes(poison)
      if (isRefused) throw new Error('the hot state does not answer')
      await runWrite()
    })
}

async function call<Body>(method: string, path: string, body?: unknown) {
  return stack.call<Body>(tenant.sandboxKey, method, path, body)
}

async function knownCustomer(reference: string): Promise<string | undefined> {
  return (await stack.hotState.readEntry(addressOf(reference), 'requests')).document
}

async function deleteStoredEntry(reference: string): Promise<void> {
  await stack.hotState.deleteEntry(addressOf(reference))
}

function addressOf(reference: string) {
  const subject = subjectKey(tenant.providerId, reference)
  const partition = partitionOf(subject, partitionCount)
  return { space: 'sandbox', partition, subject, scope: '' }
}

async function insertPoison(): Promise<void> {
  const pool = stack.database.in('sandbox')
  await pool`
    insert into customers (provider_id, reference, email, status, created_at, updated_at)
    values (${tenant.providerId}, ${poison}, 'poison@example.com', 'active', now(), now())`
  await pool`
    insert into customer_references (provider_id, customer_ref, reference, linked_at)
    values (${tenant.providerId}, ${poison}, ${poison}, now())`
}

async function removePoison(): Promise<void> {
  const pool = stack.database.in('sandbox')
  await pool`delete from publications where target = ${poison}`
  await pool`delete from customer_references where reference = ${poison}`
  await pool`delete from customers where reference = ${poison}`
}

function pending() {
  return pendingTargets(stack.database.in('sandbox'))
}

async function meterNames(): Promise<string[]> {
  const key = metersDocumentKey('sandbox', tenant.providerId)
  const document = (await stack.hotState.readDocument(key)) ?? '{"meters":{}}'
  return Object.keys((JSON.parse(document) as PublishedMeters).meters)
}

test('publishes every change before its response, and leaves nothing pending', async () => {
  const { body } = await call<CustomerBody>('POST', '/v1/sdk/customers', {
    email: 'ada@example.com',
    externalRef: 'ada',
  })
  for (const reference of [body.reference, 'ada']) {
    expect(await knownCustomer(reference)).toBe(JSON.stringify({ customerRef: body.reference }))
  }
  await call<MeterBody>('POST', '/v1/ui/meters', { name: 'tokens' })
  expect((await meterNames()).sort()).toEqual(['requests', 'tokens'])
  expect(await pending()).toEqual([])
})

test('publishes changes committed before a crash at the next start, before it serves', async () => {
  isDown = true
  const customer = await call<CustomerBody>('POST', '/v1/sdk/customers', { email: 'b@example.com' })
  const product = await call<ProductBody>('POST', '/v1/sdk/products', { name: 'API' })
  const meter = await call<MeterBody>('POST', '/v1/ui/meters', { name: 'pages' })
  isDown = false
  expect([customer.status, product.status, meter.status]).toEqual([201, 201, 201])
  expect(await knownCustomer(customer.body.reference)).toBeUndefined()
  expect((await pending()).map(({ kind }) => kind)).toEqual(['meters', 'offer', 'customer'])

  const successor = stack.createService()
  await successor.start()
  await successor.stop()
  expect(await pending()).toEqual([])
  expect(await knownCustomer(customer.body.reference)).toBeDefined()
  expect(await meterNames()).toContain('pages')
  const key = offerDocumentKey('sandbox', tenant.providerId, product.body.reference)
  expect(await stack.hotState.readDocument(key)).toBeDefined()
})

test('publishes pending targets in a loop while the service runs', async () => {
  const service = stack.createService({ TOLLGATE_PUBLISH_INTERVAL_MS: '20' })
  await service.start()
  isDown = true
  const { body } = await call<CustomerBody>('POST', '/v1/sdk/customers', { email: 'c@example.com' })
  isDown = false
  await expect.poll(() => knownCustomer(body.reference), { timeout: 20_000 }).toBeDefined()
  await expect.poll(pending, { timeout: 20_000 }).toEqual([])
  await service.stop()
})

/** Returns what readers may conclude, as the data plane does. */
async function publishedNow(): Promise<readonly string[]> {
  const parts = { hotState: stack.hotState, partitionCount: () => partitionCount }
  return (await readPublicationState(parts)).progress?.published ?? []
}

describe('a hot state that lost what was published', () => {
  let customerRef: string
  beforeEach(async () => {
    const email = `lost-${randomUUID()}@example.com`
    customerRef = (await call<CustomerBody>('POST', '/v1/sdk/customers', { email })).body.reference
    const { sandboxKey } = tenant
    await stack.hotState.deleteDocument(metersDocumentKey('sandbox', tenant.providerId))
    await stack.hotState.deleteDocument(apiKeyDocumentKey(sha256OfSecretKey(sandboxKey)))
    await deleteStoredEntry(customerRef)
  })

  async function startAndStopSuccessor(): Promise<void> {
    const successor = stack.createService()
    await successor.start()
    await successor.stop()
  }

  const losses: Record<string, () => Promise<void>> = {
    'the start': () => stack.hotState.deleteDocument(publicationsStartKey),
    'the progress, before the queue was written': () =>
      stack.hotState.deleteDocument(publicationsProgressKey),
    'its incarnation': async () => {
      const document = (await stack.hotState.readDocument(publicationsStartKey)) ?? ''
      const start = { ...(JSON.parse(document) as PublicationsStart), incarnation: 'another' }
      await stack.hotState.putDocument(publicationsStartKey, JSON.stringify(start))
    },
  }
  test.each(Object.keys(losses))('is completely refilled: %s', async (name) => {
    await losses[name]!()
    expect(await publishedNow()).toEqual([])
    await startAndStopSuccessor()
    expect(await knownCustomer(customerRef)).toBeDefined()
    expect(await meterNames()).toContain('requests')
    const key = apiKeyDocumentKey(sha256OfSecretKey(tenant.sandboxKey))
    expect(await stack.hotState.readDocument(key)).toContain(tenant.providerId)
    expect(await publishedNow()).toEqual(publishedKinds)
  })

  test('is refilled in one partition only', async () => {
    const { partition } = addressOf(customerRef)
    let elsewhere: string
    do {
      const email = `else-${randomUUID()}@example.com`
      const { body } = await call<CustomerBody>('POST', '/v1/sdk/customers', { email })
      elsewhere = body.reference
    } while (addressOf(elsewhere).partition === partition)
    await deleteStoredEntry(elsewhere)
    const at = { space: 'sandbox', partition, subject: publicationsSubject, scope: '' }
    await stack.hotState.deleteEntry(at)
    await startAndStopSuccessor()
    expect(await knownCustomer(customerRef)).toBeDefined()
    expect(await knownCustomer(elsewhere)).toBeUndefined()
    expect(await meterNames()).toEqual([])
    expect(await publishedNow()).toEqual(publishedKinds)
  })

  test('reports each kind that is not refilled yet', async () => {
    isDown = true
    await call('PATCH', `/v1/sdk/customers/${customerRef}`, { name: 'waits' })
    isDown = false
    await insertPoison()
    await stack.hotState.deleteDocument(publicationsStartKey)
    await startAndStopSuccessor()
    expect(await publishedNow()).toEqual(['api-key', 'meters', 'offer'])
    await removePoison()
    expect(await knownCustomer(customerRef)).toBeDefined()
  })

  test('is not refilled with revoked or removed objects', async () => {
    const key = { providerId: tenant.providerId, environment: 'sandbox', name: null } as const
    const { database, hotState } = stack
    const issued = await issueApiKey(
      database,
      hotState,
      jobActor('test'),
      { ...key, expiresAt: null },
      new Date(),
    )
    const keyDocument = apiKeyDocumentKey(issued.key.sha256)
    const product = await call<ProductBody>('POST', '/v1/sdk/products', { name: 'Gone' })
    const offerDocument = offerDocumentKey('sandbox', tenant.providerId, product.body.reference)
    const before = await Promise.all([keyDocument, offerDocument].map((each) => read(each)))
    await revokeApiKey(database, hotState, jobActor('test'), issued.key, new Date())
    await call('DELETE', `/v1/sdk/products/${product.body.reference}`)
    // A copy from a moment ago, as a replica has it that takes over.
    await hotState.putDocument(keyDocument, before[0]!)
    await hotState.putDocument(offerDocument, before[1]!)
    await losses['its incarnation']!()
    await startAndStopSuccessor()
    expect(await read(keyDocument)).toBeUndefined()
    expect(await read(offerDocument)).toBeUndefined()
  })
})

function read(key: string): Promise<string | undefined> {
  return stack.hotState.readDocument(key)
}

test('publishes other targets although one cannot be published', async () => {
  const good = await call<CustomerBody>('POST', '/v1/sdk/customers', { email: 'e@example.com' })
  await deleteStoredEntry(good.body.reference)
  const pool = stack.database.in('sandbox')
  const target = { kind: 'customer', providerId: tenant.providerId } as const
  // There are more of them than one round processes.
  await pool`
    insert into publications (provider_id, kind, target)
    select ${tenant.providerId}, 'customer', ${poison} from generate_series(1, 5000)`
  await insertPublication(pool, { ...target, target: good.body.reference })
  await insertPoison()

  const successor = stack.createService()
  await successor.start()
  await successor.stop()
  expect(await knownCustomer(good.body.reference)).toBeDefined()
  expect(await pending()).toEqual([{ ...target, target: poison }])
  await removePoison()
})

test('leaves the last state after concurrent publications', async () => {
  const { body } = await call<ProductBody>('POST', '/v1/sdk/products', { name: 'name 0' })
  const path = `/v1/sdk/products/${body.reference}`
  await Promise.all(
    Array.from({ length: 12 }, (_, index) => call('PUT', path, { name: `name ${index}` })),
  )
  const { name } = (await call<ProductBody>('GET', path)).body
  const key = offerDocumentKey('sandbox', tenant.providerId, body.reference)
  const document = await stack.hotState.readDocument(key)
  expect(JSON.parse(document ?? '{}')).toMatchObject({ product: { name } })
})
