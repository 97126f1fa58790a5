import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { listOutboxEvents } from '@tollgate/domain/outbox/repository'
import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { PurchaseBody } from '@tollgate/schemas/http/purchases'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

let stack: TestStack
let tenant: Tenant
let productRef: string
let planRef: string

beforeAll(async () => {
  stack = await startTestStack()
})

afterAll(() => stack.stop())

beforeEach(async () => {
  tenant = await stack.createTenant()
  const product = await call<ProductBody>('POST', '/v1/sdk/products', { name: 'API' })
  productRef = product.body.reference
  const path = `/v1/sdk/products/${productRef}/plans`
  const plan = await call<PlanBody>('POST', path, { name: 'Free', freeUnits: 10, default: true })
  planRef = plan.body.reference
})

const ada = {
  email: 'ada@customers.test',
  name: 'Ada Lovelace',
  telephone: '+44 20 7946 0001',
  externalRef: 'user_ada',
  metadata: { shoe: 'size 38' },
}

function call<Body>(method: string, path: string, body?: object) {
  return stack.call<Body>(tenant.sandboxKey, method, path, body)
}

async function createCustomer(up: Partial<typeof ada> = ada): Promise<string> {
  const { status, body } = await call<CustomerBody>('POST', '/v1/sdk/customers', up)
  expect(status).toBe(201)
  return body.reference
}

const activate = (customerRef: string) =>
  call<{ status: string }>('POST', '/v1/sdk/activate', { customerRef, productRef, planRef })

const remove = (reference: string) =>
  call<{ success?: boolean }>('DELETE', `/v1/ui/customers/${reference}`)

const limits = (customerRef: string) =>
  call<{ withinLimits: boolean; remaining: number }>('POST', '/v1/sdk/limits', {
    customerRef,
    productRef,
  })

const eventsOf = async (type: string) => {
  const events = await listOutboxEvents(stack.database.in('sandbox'), tenant.providerId, 1000)
  return events.filter((event) => event.type === type).map(({ object }) => object)
}

async function entitlementOf(reference: string): Promise<Entitlement | undefined> {
  const subject = subjectKey(tenant.providerId, reference)
  const partitions = stack.eventLog.partitionCount(usageTopic('sandbox'))
  const at = {
    space: 'sandbox',
    partition: partitionOf(subject, partitions),
    subject,
    scope: productRef,
  }
  const document = await stack.hotState.readEntryDocument(at)
  return document === undefined ? undefined : (JSON.parse(document) as Entitlement)
}

test('hides a deleted customer', async () => {
  const reference = await createCustomer()
  expect(await remove(reference)).toMatchObject({ status: 200, body: { success: true } })
  const queries = [`reference=${reference}`, 'externalRef=user_ada', `email=${ada.email}`]
  for (const query of queries) {
    expect((await call('GET', `/v1/sdk/customers?${query}`)).status).toBe(404)
  }
  for (const each of [reference, 'user_ada']) {
    expect((await call('GET', `/v1/sdk/customers/${each}`)).status).toBe(404)
    expect((await call('PATCH', `/v1/sdk/customers/${each}`, { name: 'Eve' })).status).toBe(404)
    expect((await activate(each)).status).toBe(404)
    expect((await limits(each)).status).toBe(404)
  }
})

test('erases personal data and keeps usage', async () => {
  const reference = await createCustomer()
  await activate(reference)
  await remove(reference)
  const rows = await stack.database.in('sandbox')<{ row: string }[]>`
    select customer::text as row from customers customer where reference = ${reference}`
  for (const personal of [ada.email, ada.name, ada.telephone, ada.metadata.shoe, 'user_ada']) {
    expect(rows[0]!.row).not.toContain(personal)
  }
  const { body } = await call<{ purchases: PurchaseBody[] }>('GET', '/v1/sdk/purchases')
  expect(body.purchases).toMatchObject([
    { customerRef: reference, customerEmail: '', status: 'cancelled' },
  ])
})

test('still finds invoices and purchases by the reference of the deleted customer', async () => {
  const reference = await createCustomer()
  await activate(reference)
  const { sandboxKey, providerId } = tenant
  await stack.database.in('sandbox')`
    insert into invoices (provider_id, reference, status, customer_ref, currency, total, created_at, updated_at)
    values (${providerId}, ${`inv_OF${reference.slice(4)}`}, 'void', ${reference}, 'USD', 0, now(), now())`
  await remove(reference)
  for (const list of ['ui/invoices', 'ui/purchases', 'sdk/purchases']) {
    const found = await stack.call<Record<string, unknown[]>>(
      sandboxKey,
      'GET',
      `/v1/${list}?customerRef=${reference}`,
    )
    const rows = found.body[list.split('/')[1]!]
    expect(rows, list).toMatchObject([{ customerRef: reference }])
  }
  const { body } = await call<{ purchases: object[] }>(
    'GET',
    '/v1/sdk/purchases?customerRef=user_ada',
  )
  expect(body.purchases, 'the external reference is free for another customer').toEqual([])
})

test('ends open purchases, and the data plane gives no access by them', async () => {
  const reference = await createCustomer()
  await activate('user_ada')
  expect((await entitlementOf(reference))!.endsAtMs).toBeNull()
  stack.clock.set('2031-03-05T12:00:00Z')
  await remove('user_ada')
  for (const each of [reference, 'user_ada']) {
    expect((await entitlementOf(each))!.endsAtMs).toBe(Date.parse('2031-03-05T12:00:00Z'))
  }
  expect(await eventsOf('purchase.cancelled')).toMatchObject([{ customer: reference }])
  const [deleted] = await eventsOf('customer.deleted')
  expect(Object.keys(deleted!).sort()).toEqual(['created', 'id'])
  expect(deleted!['id']).toBe(reference)
})

test('accepts a second deletion, and responds 404 for an unknown customer', async () => {
  const reference = await createCustomer()
  for (const each of [reference, reference, 'user_ada'])
    expect((await remove(each)).status).toBe(200)
  expect(await eventsOf('customer.deleted')).toHaveLength(1)
  expect((await remove('cus_nobody')).status).toBe(404)
  const other = await stack.createTenant()
  const path = `/v1/ui/customers/${await createCustomer()}`
  expect((await stack.call(other.sandboxKey, 'DELETE', path)).status).toBe(404)
})

test('emits one event for concurrent deletions', async () => {
  const reference = await createCustomer()
  await activate(reference)
  const answers = await Promise.all([1, 2, 3, 4].map(() => remove(reference)))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(await eventsOf('customer.deleted')).toHaveLength(1)
})

test('creates a new customer with the same email and external reference', async () => {
  stack.clock.set('2031-03-05T12:00:00Z')
  const first = await createCustomer()
  await activate(first)
  const { providerId } = tenant
  await stack.countUsage({ providerId, customerRef: 'user_ada', productRef, units: 10 })
  expect((await limits('user_ada')).body.withinLimits).toBe(false)
  stack.clock.set('2031-03-05T13:00:00Z')
  await remove(first)
  const second = await createCustomer()
  expect(second).not.toBe(first)
  expect((await limits('user_ada')).body).toMatchObject({ withinLimits: true, remaining: 10 })
  await stack.countUsage({ providerId, customerRef: 'user_ada', productRef, units: 4 })
  expect((await limits(second)).body.remaining).toBe(6)

  // A late publication of the first customer does not take the reference back.
  await remove(second)
  expect((await entitlementOf('user_ada'))!.customerRef).toBe(second)
})

test('never reuses the own reference of a deleted customer', async () => {
  const reference = await createCustomer()
  await remove(reference)
  const { externalRef: _, ...anonymous } = ada
  const answer = await call('POST', '/v1/sdk/customers', { ...anonymous, externalRef: reference })
  expect(answer.status).toBe(409)
  const other = await createCustomer({ ...anonymous, email: 'eve@customers.test' })
  const change = { externalRef: reference }
  expect((await call('PATCH', `/v1/sdk/customers/${other}`, change)).status).toBe(409)
})

test('closes open portals of the customer', async () => {
  const customerRef = await createCustomer()
  const path = '/v1/sdk/customers/customer-sessions'
  const opened = await call<{ sessionId: string }>('POST', path, { customerRef })
  await remove(customerRef)
  expect((await call('GET', `${path}/${opened.body.sessionId}`)).status).toBe(404)
})

test("removes the customer's personal data from earlier events", async () => {
  const reference = await createCustomer()
  const other = await createCustomer({ email: 'bob@customers.test', name: 'Bob' })
  await call('PATCH', `/v1/sdk/customers/${reference}`, { name: 'Ada King' })
  const customerEvents = [
    ...(await eventsOf('customer.created')),
    ...(await eventsOf('customer.updated')),
  ]
  expect(JSON.stringify(customerEvents)).toContain('Ada King')
  await remove(reference)
  const events = await listOutboxEvents(stack.database.in('sandbox'), tenant.providerId, 1000)
  const text = JSON.stringify(events)
  for (const trace of ['Ada', 'ada@', '7946']) expect(text).not.toContain(trace)
  const wanted = await stack.database.in('sandbox')`
    select from answer_erasures where customer_ref = ${reference}`
  expect(wanted).toHaveLength(1)
  const [created] = (await eventsOf('customer.created')).filter(({ id }) => id === reference)
  expect(created).toMatchObject({ reference, name: null, email: '', telephone: null })
  expect(text).toContain('bob@customers.test')
  expect(events.some(({ object }) => object['id'] === other)).toBe(true)
})
