import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { sha256OfSecretKey } from '@tollgate/domain/api-keys/secret-key'
import { insertPublication, listPendingTargets } from '@tollgate/domain/publications/repository'
import {
  apiKeyDocumentKey,
  metersDocumentKey,
  offerDocumentKey,
  type PublishedMeters,
} from '@tollgate/schemas/hot-state/documents'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { MeterBody } from '@tollgate/schemas/http/meters'
import type { ProductBody } from '@tollgate/schemas/http/products'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { aroundWrites } from './around-writes.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

let stack: TestStack
let tenant: Tenant
/** A customer whose entry the hot state never takes. */
const poison = 'cus_poison'
/** While it is set, the stack's hot state takes nothing: as if the process had died after the commit. */
let isDown = false

beforeAll(async () => {
  stack = await startTestStack({
    settings: { TOLLGATE_PUBLISH_INTERVAL_MS: '3600000' },
    wrapHotState: refuseWhile(() => isDown),
  })
  tenant = await stack.createTenant()
})
afterAll(() => stack.stop())

/** The real hot state behind a switch. */
function refuseWhile(down: () => boolean): (hotState: HotState) => HotState {
  return (hotState) =>
    aroundWrites(hotState, async (carryOut, given) => {
      const isRefused = down() || JSON.stringify(given).includes(poison)
      if (isRefused) throw new Error('the hot state does not answer')
      await carryOut()
    })
}

async function call<Body>(method: string, path: string, body?: unknown) {
  return stack.call<Body>(tenant.sandboxKey, method, path, body)
}

async function knownCustomer(reference: string): Promise<string | undefined> {
  return (await stack.hotState.readEntry(addressOf(reference), 'requests')).document
}

async function forget(reference: string): Promise<void> {
  await stack.hotState.deleteEntry(addressOf(reference))
}

function addressOf(reference: string) {
  const subject = subjectKey(tenant.providerId, reference)
  const partition = partitionOf(subject, stack.eventLog.partitionCount(usageTopic('sandbox')))
  return { space: 'sandbox', partition, subject, scope: '' }
}

function pending() {
  return listPendingTargets(stack.database.in('sandbox'), 100)
}

async function meterNames(): Promise<string[]> {
  const key = metersDocumentKey('sandbox', tenant.providerId)
  const document = (await stack.hotState.readDocument(key)) ?? '{"meters":{}}'
  return Object.keys((JSON.parse(document) as PublishedMeters).meters)
}

test('what was answered is published, and nothing is left waiting', async () => {
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

test('what was committed before a crash is published by the next start, before it serves', async () => {
  isDown = true
  const customer = await call<CustomerBody>('POST', '/v1/sdk/customers', { email: 'b@example.com' })
  const product = await call<ProductBody>('POST', '/v1/sdk/products', { name: 'API' })
  const meter = await call<MeterBody>('POST', '/v1/ui/meters', { name: 'pages' })
  isDown = false
  expect([customer.status, product.status, meter.status]).toEqual([201, 201, 201])
  expect(await knownCustomer(customer.body.reference)).toBeUndefined()
  expect((await pending()).map(({ kind }) => kind)).toEqual(['customer', 'offer', 'meters'])

  const successor = stack.createService()
  await successor.start()
  await successor.stop()
  expect(await pending()).toEqual([])
  expect(await knownCustomer(customer.body.reference)).toBeDefined()
  expect(await meterNames()).toContain('pages')
  const key = offerDocumentKey('sandbox', tenant.providerId, product.body.reference)
  expect(await stack.hotState.readDocument(key)).toBeDefined()
})

test('the loop publishes what waits while the service runs', async () => {
  const service = stack.createService({ TOLLGATE_PUBLISH_INTERVAL_MS: '20' })
  await service.start()
  isDown = true
  const { body } = await call<CustomerBody>('POST', '/v1/sdk/customers', { email: 'c@example.com' })
  isDown = false
  await expect.poll(() => knownCustomer(body.reference), { timeout: 5_000 }).toBeDefined()
  await expect.poll(pending, { timeout: 5_000 }).toEqual([])
  await service.stop()
})

test('a hot state that lost everything gets it all back', async () => {
  const { body } = await call<CustomerBody>('POST', '/v1/sdk/customers', { email: 'd@example.com' })
  const { sandboxKey } = tenant
  await stack.hotState.deleteDocument('publications/complete')
  await stack.hotState.deleteDocument(metersDocumentKey('sandbox', tenant.providerId))
  await stack.hotState.deleteDocument(apiKeyDocumentKey(sha256OfSecretKey(sandboxKey)))
  await forget(body.reference)
  expect(await knownCustomer(body.reference)).toBeUndefined()

  const successor = stack.createService()
  await successor.start()
  await successor.stop()
  expect(await knownCustomer(body.reference)).toBeDefined()
  expect(await meterNames()).toContain('requests')
  const key = apiKeyDocumentKey(sha256OfSecretKey(sandboxKey))
  expect(await stack.hotState.readDocument(key)).toContain(tenant.providerId)
})

test('a target that cannot be published keeps no other from it', async () => {
  const good = await call<CustomerBody>('POST', '/v1/sdk/customers', { email: 'e@example.com' })
  await forget(good.body.reference)
  const pool = stack.database.in('sandbox')
  const target = { kind: 'customer', providerId: tenant.providerId } as const
  await insertPublication(pool, { ...target, target: poison })
  await insertPublication(pool, { ...target, target: good.body.reference })
  await pool`
    insert into customers (provider_id, reference, email, status, created_at, updated_at)
    values (${tenant.providerId}, ${poison}, 'poison@example.com', 'active', now(), now())`
  await pool`
    insert into customer_references (provider_id, customer_ref, reference, linked_at)
    values (${tenant.providerId}, ${poison}, ${poison}, now())`

  const successor = stack.createService()
  await successor.start()
  await successor.stop()
  expect(await knownCustomer(good.body.reference)).toBeDefined()
  expect(await pending()).toEqual([{ ...target, target: poison }])
})

test('publishers that race leave the last state', async () => {
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
