import { randomUUID } from 'node:crypto'
import {
  startTestUsageStore,
  type TestUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { MeterBody } from '@tollgate/schemas/http/meters'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { PurchaseBody } from '@tollgate/schemas/http/purchases'
import { creditSample, issueSample } from './printed-invoice.ts'
import { createAddOn } from './add-on-calls.ts'
import { readForeignRows } from './foreign-rows.ts'
import { createConsoleRollUps } from './roll-up-tables.ts'
import { storeEmail, storePaymentIntent, storeReconciliation } from './stored-objects.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/*
 * Calls every operation of the published description with references of another provider, and of the same provider's other
 * environment. Each response must be identical to the response for a reference that does not exist, and no request may change
 * anything.
 */

/** Names of all parameters and fields with which a request can refer to an object. */
const names = [
  'productRef',
  'planRef',
  'purchaseRef',
  'customerRef',
  'reference',
  'externalRef',
  'email',
  'meterRef',
  'alertRef',
  'sessionId',
  'eventId',
  'keyId',
  'invoiceRef',
  'creditNoteRef',
  'paymentIntentRef',
  'reservationId',
  'reconciliationRef',
  'endpointId',
  'deliveryId',
  'replayId',
  'testClockRef',
  'addOnRef',
  'scheduleRef',
  'couponRef',
  'discountRef',
  'correctionRef',
  'migrationRef',
  'emailId',
] as const
type Name = (typeof names)[number]
/** In a body, these fields refer to nothing, because the caller chooses their value. */
const chosen: ReadonlySet<Name> = new Set(['externalRef', 'email'])
type Refs = Readonly<Record<Name, string>>

type Operation = {
  readonly method: string
  readonly path: string
  readonly pathNames: readonly Name[]
  readonly queryNames: readonly Name[]
  readonly bodyNames: readonly Name[]
  /** Values from the examples that the operation needs, besides references, to get as far as reading them. */
  readonly fixed: { readonly query: string; readonly body: Readonly<Record<string, unknown>> }
}

let usage: TestUsageStore
let stack: TestStack
let tenant: Tenant
let own: Refs
let elsewhere: Record<string, Refs>
let operations: readonly Operation[]
/** The key of each customer's provider and environment. */
const keys = new Map<string, string>()

beforeAll(async () => {
  usage = await startTestUsageStore()
  await createConsoleRollUps(usage.store)
  stack = await startTestStack({ usageStore: usage.store })
  tenant = await stack.createTenant()
  own = await createObjects(tenant.sandboxKey, 'own')
  elsewhere = {
    'another provider': await createObjects((await stack.createTenant()).sandboxKey, 'foreign'),
    'the other environment': await createObjects(tenant.liveKey, 'live'),
  }
  operations = await describedOperations()
})
afterAll(async () => {
  await stack.stop()
  await usage.stop()
})

/** Creates one object of each kind. */
async function createObjects(key: string, word: string): Promise<Refs> {
  const make = async <Body>(path: string, body: unknown): Promise<Body> =>
    (await stack.call<Body>(key, 'POST', path, body)).body
  const url = `https://${word}.example.com/webhooks`
  const endpoint = await make<{ id: string }>('/v1/webhook_endpoints', { url })
  const product = await make<ProductBody>('/v1/sdk/products', { name: `Product ${word}` })
  const plans = `/v1/sdk/products/${product.reference}/plans`
  const plan = await make<PlanBody>(plans, { name: `Plan ${word}`, default: true, limit: 5 })
  const migrations = `${plans}/${plan.reference}/migrations`
  const migration = await make<{ reference: string }>(migrations, { when: 'renewal' })
  const who = { email: `${word}@example.com`, externalRef: `user_${word}` }
  const customer = await make<CustomerBody>('/v1/sdk/customers', who)
  const customerRef = customer.reference
  keys.set(customerRef, key)
  await make('/v1/sdk/limits', { customerRef, productRef: product.reference })
  const { body } = await stack.call<{ purchases: PurchaseBody[] }>(key, 'GET', '/v1/sdk/purchases')
  const meter = await make<MeterBody>('/v1/ui/meters', { name: `meter ${word}` })
  const sessions = '/v1/sdk/customers/customer-sessions'
  const session = await make<{ sessionId: string }>(sessions, { customerRef })
  const eventsPath = '/v1/ui/events'
  const events = await stack.call<{ events: { id: string }[] }>(key, 'GET', eventsPath)
  const paymentIntentRef = await storePaymentIntent(stack, key, customerRef)
  const held = await make<{ reservation: { id: string } }>('/v1/sdk/limits', {
    ...{ customerRef, productRef: product.reference, reserve: { units: 1, ttlSeconds: 600 } },
  })
  const invoiceRef = await issueSample(stack, key, customerRef)
  const deliveriesPath = '/v1/ui/webhook-deliveries'
  const list = await stack.call<{ deliveries: { id: string }[] }>(key, 'GET', deliveriesPath)
  const coupon = { code: word, name: word, percentOff: 10, duration: 'forever' }
  const couponRef = (await make<{ reference: string }>('/v1/ui/coupons', coupon)).reference
  const discounts = `/v1/ui/customers/${customerRef}/discounts`
  const discount = await make<{ reference: string }>(discounts, { couponRef })
  const schedules = `/v1/ui/customers/${customerRef}/credit-schedules`
  const schedule = { credits: 100, every: { unit: 'month', count: 1 } }
  const alert = { watches: 'limit', limit: word, thresholds: [{ percent: 80 }] }
  const again = { endpointId: endpoint.id, onlyFailed: true }
  return {
    ...who,
    productRef: product.reference,
    planRef: plan.reference,
    purchaseRef: body.purchases[0]!.reference,
    customerRef,
    reference: customerRef,
    meterRef: meter.reference,
    alertRef: (await make<{ reference: string }>('/v1/ui/alerts', alert)).reference,
    scheduleRef: (await make<{ reference: string }>(schedules, schedule)).reference,
    addOnRef: await createAddOn(stack, key, product.reference),
    couponRef,
    discountRef: discount.reference,
    sessionId: session.sessionId,
    eventId: events.body.events[0]!.id,
    keyId: (await make<{ keyId: string }>('/v1/ui/api-keys', { name: word })).keyId,
    invoiceRef,
    creditNoteRef: await creditSample(stack, key, invoiceRef),
    paymentIntentRef,
    reservationId: held.reservation.id,
    reconciliationRef: await storeReconciliation(stack, key, customerRef),
    endpointId: endpoint.id,
    deliveryId: list.body.deliveries[0]!.id,
    replayId: (await make<{ id: string }>('/v1/ui/webhook-replays', again)).id,
    testClockRef: await createTestClock(key),
    correctionRef: await createCorrection(key, customerRef),
    migrationRef: migration.reference,
    emailId: await storeEmail(stack, key, customerRef),
  }
}

async function createCorrection(key: string, customerRef: string): Promise<string> {
  const made = await stack.call<{ reference: string }>(key, 'POST', '/v1/sdk/usage-corrections', {
    record: { customerRef, idempotencyKey: 'call-1' },
    action: 'remove',
    reason: 'a mistake',
  })
  return made.body.reference
}

/** Creates a test clock. Live data has none, so it is one of another provider then. */
async function createTestClock(key: string): Promise<string> {
  const isLive = key.startsWith('sk_live_')
  const sandboxKey = isLive ? (await stack.createTenant()).sandboxKey : key
  const frozenTime = new Date(Date.now() + 10 * 86_400_000).toISOString()
  const made = await stack.call<{ reference: string }>(sandboxKey, 'POST', '/v1/ui/test-clocks', {
    frozenTime,
  })
  return made.body.reference
}

const unknown: Refs = {
  productRef: 'prd_NOBODYS00000',
  planRef: 'pln_NOBODYS00000',
  purchaseRef: 'pur_NOBODYS00000',
  customerRef: 'cus_nobodys00000',
  reference: 'cus_nobodys00000',
  externalRef: 'user_nobody',
  email: 'nobody@example.com',
  meterRef: 'mtr_NOBODYS00000',
  alertRef: 'alr_NOBODYS00000',
  sessionId: '0'.repeat(32),
  eventId: 'evt_NOBODYS00000',
  keyId: 'key_NOBODYS00000',
  invoiceRef: 'inv_NOBODYS00000',
  creditNoteRef: 'crn_NOBODYS00000',
  paymentIntentRef: 'txn_NOBODYS00000',
  reservationId: 'rsv_NOBODYS00000000000000000000.cus_nobodys00000.prd_NOBODYS00000',
  reconciliationRef: 'rec_NOBODYS00000',
  endpointId: 'we_NOBODYS00000',
  deliveryId: 'dlv_NOBODYS00000',
  replayId: 'wr_NOBODYS00000',
  testClockRef: 'tc_NOBODYS00000',
  addOnRef: 'add_NOBODYS00000',
  scheduleRef: 'csh_NOBODYS00000',
  couponRef: 'cpn_NOBODYS00000',
  discountRef: 'dsc_NOBODYS00000',
  correctionRef: 'ucr_NOBODYS00000',
  migrationRef: 'mig_NOBODYS00000',
  emailId: 'eml_NOBODYS00000',
}

type Examples = Record<string, { value: object }>
type Description = {
  paths: Record<
    string,
    Record<
      string,
      {
        security: unknown[]
        parameters?: { in: string; name: string; required?: boolean; example?: unknown }[]
        requestBody?: {
          content: Record<string, { schema: { properties?: object }; examples?: Examples }>
        }
      }
    >
  >
}

/**
 * Returns the operations to test. It leaves out the operations of the data plane, which accept any customer reference; the
 * operations of command lines, whose sessions belong to no provider; the operations of signed-in customers; and the public ones.
 */
async function describedOperations(): Promise<Operation[]> {
  const { body } = await stack.call<Description>(undefined, 'GET', '/v1/openapi.json')
  return Object.entries(body.paths)
    .filter(([path]) => !/^\/v1\/sdk\/(usages|meter-events)|\/cli-init\/|\/userinfo$/.test(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(isForCallers)
        .map(([verb, { parameters = [], requestBody }]) => {
          const method = verb.toUpperCase()
          const named = (place: string): Name[] =>
            names.filter((name) =>
              parameters.some((each) => each.in === place && each.name === name),
            )
          const { schema, examples = {} } = requestBody?.content['application/json'] ?? {}
          const properties = schema?.properties ?? {}
          const [example] = Object.values(examples)
          const query = new URLSearchParams()
          for (const each of parameters) {
            const isFixed = each.in === 'query' && each.required && !isReference(each.name)
            if (isFixed) query.set(each.name, String(each.example))
          }
          const chosenInPath = parameters.filter(
            (each) => each.in === 'path' && !isReference(each.name) && !/(Ref|Id)$/.test(each.name),
          )
          return {
            method,
            path: chosenInPath.reduce(
              (text, { name, example: value }) => text.replace(`{${name}}`, String(value)),
              path,
            ),
            pathNames: named('path'),
            queryNames: named('query'),
            bodyNames: names.filter((name) => name in properties && !chosen.has(name)),
            fixed: { query: query.toString(), body: { ...example?.value } },
          }
        }),
    )
}

function isReference(name: string): boolean {
  return names.some((each) => each === name)
}

function isForCallers([, { security }]: [string, { security: unknown[] }]): boolean {
  return security.length > 0
}

type Call = { readonly operation: Operation; readonly elsewhereNames: readonly Name[] }

/** Returns requests with references from elsewhere: one with all of them, and one for each of them alone. */
function callsOf(operation: Operation): Call[] {
  const { pathNames, queryNames, bodyNames } = operation
  const required = [...pathNames, ...bodyNames]
  const combinations = new Map<string, Name[]>()
  for (const some of [required, ...required.map((name) => [name])]) {
    if (some.length > 0) combinations.set(some.join(), some)
  }
  for (const name of queryNames) combinations.set(`query ${name}`, [...pathNames, name])
  return [...combinations.values()].map((elsewhereNames) => ({ operation, elsewhereNames }))
}

async function send({ operation, elsewhereNames }: Call, foreign: Refs): Promise<string> {
  const refs: Refs = { ...own }
  for (const name of elsewhereNames) Object.assign(refs, { [name]: foreign[name] })
  const { method, pathNames, queryNames, bodyNames, fixed } = operation
  const path = pathNames.reduce(
    (filled, name) => filled.replace(`{${name}}`, encodeURIComponent(refs[name])),
    operation.path,
  )
  const query = new URLSearchParams(fixed.query)
  for (const name of queryNames) if (elsewhereNames.includes(name)) query.set(name, refs[name])
  const hasBody = method !== 'GET' && method !== 'DELETE'
  const body = { ...fixed.body, ...Object.fromEntries(bodyNames.map((name) => [name, refs[name]])) }
  const answer = await stack.callRaw<unknown>(
    tenant.sandboxKey,
    method,
    `${path}?${query.toString()}`,
    {
      headers: { 'idempotency-key': randomUUID() },
      ...(hasBody ? { body: JSON.stringify(body) } : {}),
    },
  )
  let text = `${answer.status} ${JSON.stringify(answer.body)}`
  for (const name of names) text = text.replaceAll(refs[name], `<${name}>`)
  // Every request has its own id, and every new object has its own reference and time.
  return text
    .replaceAll(/\breq_\w+/g, '<request>')
    .replaceAll(/cus_[a-z0-9]{12}/g, '<new>')
    .replaceAll(/\b[0-9a-f]{32}\b/g, '<new session>')
    .replaceAll(/connect\/[\w-]{22}/g, 'connect/<new link>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<at>')
}

/** Returns whether the units of the reservation are still held. The customer's plan has 5 units. */
async function isHeld({ customerRef, productRef, reservationId }: Refs): Promise<boolean> {
  const key = keys.get(customerRef)
  const request = { customerRef, productRef, reserve: { units: 5, ttlSeconds: 1 } }
  const all = await stack.call<{ withinLimits: boolean }>(key, 'POST', '/v1/sdk/limits', request)
  const extension = { reservationId, ttlSeconds: 600 }
  const extended = await stack.call(key, 'POST', '/v1/sdk/limits/extend', extension)
  return !all.body.withinLimits && extended.status === 200
}

test.each(['another provider', 'the other environment'])(
  'responds to references of %s as to unknown ones, in every operation',
  async (where) => {
    const before = await readForeignRows(stack, tenant)
    const calls = operations.flatMap(callsOf)
    expect(calls.length).toBeGreaterThan(30)
    for (const call of calls) {
      const { method, path } = call.operation
      const answer = await send(call, elsewhere[where]!)
      const title = `${method} ${path} with ${call.elsewhereNames.join()} of ${where}`
      expect(answer, title).toBe(await send(call, unknown))
      expect(answer, title).toMatch(/^(404 |2\d\d |409 .*"reservation_gone")/)
    }
    expect(await readForeignRows(stack, tenant)).toEqual(before)
    expect(await isHeld(elsewhere[where]!)).toBe(true)
  },
)

test("accepts the provider's own references in the same requests", async () => {
  // A key cannot use the route that returns the signed-in user.
  const checkedOperations = operations.filter(
    ({ method, path }) => method === 'GET' && path !== '/v1/ui/auth/me',
  )
  for (const operation of checkedOperations) {
    const elsewhereNames = [...operation.queryNames, ...operation.pathNames]
    // The query for a customer accepts only one of its parameters.
    const [first] = operation.queryNames
    const given = operation.pathNames.length > 0 || first === undefined ? elsewhereNames : [first]
    expect(await send({ operation, elsewhereNames: given }, own), operation.path).not.toMatch(/^4/)
  }
})

test('allows an email and an external reference that another provider uses', async () => {
  const before = await readForeignRows(stack, tenant)
  for (const { email, externalRef, customerRef } of Object.values(elsewhere)) {
    const path = '/v1/sdk/customers'
    const who = { email, externalRef }
    const { status, body } = await stack.call<CustomerBody>(tenant.sandboxKey, 'POST', path, who)
    expect(status).toBe(201)
    expect(body).toMatchObject(who)
    expect(body.reference).not.toBe(customerRef)
  }
  expect(await readForeignRows(stack, tenant)).toEqual(before)
})
