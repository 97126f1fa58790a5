import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findCustomer } from '@tollgate/domain/customers/repository'
import { listOutboxEvents } from '@tollgate/domain/outbox/repository'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

let stack: TestStack
let tenant: Tenant

beforeAll(async () => {
  stack = await startTestStack()
  tenant = await stack.createTenant()
})
afterAll(() => stack.stop())

const create = (body: object, key = tenant.sandboxKey) =>
  stack.call<CustomerBody>(key, 'POST', '/v1/sdk/customers', body)
const get = (query: string, key = tenant.sandboxKey) =>
  stack.call<CustomerBody>(key, 'GET', `/v1/sdk/customers${query}`)

let sequence = 0
function fresh(): { email: string; externalRef: string } {
  sequence += 1
  return { email: `user-${sequence}@example.com`, externalRef: `user-${sequence}` }
}

async function eventsOf(reference: string): Promise<string[]> {
  const events = await listOutboxEvents(stack.database.in('sandbox'), tenant.providerId, 10_000)
  return events.filter(({ object }) => object['id'] === reference).map(({ type }) => type)
}

describe('creating or linking', () => {
  test('creates a customer for a new email and emits an event', async () => {
    const { email } = fresh()
    const { status, body } = await create({ email, name: 'Ada', metadata: { tier: 'gold' } })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      email,
      name: 'Ada',
      status: 'active',
      metadata: { tier: 'gold' },
      purchases: [],
    })
    expect(body.reference).toMatch(/^cus_[a-z0-9]+$/)
    expect(body).not.toHaveProperty('externalRef')
    const [event] = (
      await listOutboxEvents(stack.database.in('sandbox'), tenant.providerId, 10_000)
    ).filter(({ object }) => object['id'] === body.reference)
    expect(event).toMatchObject({
      type: 'customer.created',
      livemode: false,
      object: { reference: body.reference, email, name: 'Ada', telephone: null, product: null },
      previousAttributes: null,
    })
    expect(event?.requestId).toMatch(/^req_/)
  })

  test('links a known email to a new external reference', async () => {
    const { email, externalRef } = fresh()
    const first = await create({ email })
    const linked = await create({ email: email.toUpperCase(), externalRef })
    expect(linked.status).toBe(201)
    expect(linked.body).toMatchObject({ reference: first.body.reference, email, externalRef })
    expect((await get(`?externalRef=${externalRef}`)).body.reference).toBe(first.body.reference)
    expect(await eventsOf(first.body.reference)).toEqual(['customer.created', 'customer.updated'])
  })

  test('changes nothing for the same email and external reference', async () => {
    const request = fresh()
    const first = await create(request)
    const second = await create(request)
    expect([second.status, second.body]).toEqual([201, first.body])
    expect(await eventsOf(first.body.reference)).toEqual(['customer.created'])
  })

  test('refuses a known email that is linked to another external reference', async () => {
    const request = fresh()
    await create(request)
    const { status, body } = await create({ ...request, externalRef: 'somebody-else' })
    expect(status).toBe(409)
    expect(body).toMatchObject({ statusCode: 409, error: 'Conflict' })
    expect(body.message).toMatch(/email.*already exists/)
  })

  test('refuses a known email without an external reference', async () => {
    const { email } = fresh()
    await create({ email })
    const { status, body } = await create({ email })
    expect([status, body]).toMatchObject([
      409,
      {
        statusCode: 409,
        error: 'Conflict',
        message: `Customer with identifier email ${email} already exists`,
      },
    ])
  })

  test('returns the customer of a known external reference, whatever the email', async () => {
    const request = fresh()
    const first = await create(request)
    const { status, body } = await create({ ...request, email: 'other@example.com' })
    expect([status, body.reference, body.email]).toEqual([201, first.body.reference, request.email])
  })

  test('creates one customer for concurrent requests', async () => {
    const request = fresh()
    const answers = await Promise.all(Array.from({ length: 12 }, () => create(request)))
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(12).fill(201))
    expect(new Set(answers.map(({ body }) => body.reference)).size).toBe(1)
  })

  test('creates one customer without an external reference, and refuses the other concurrent requests', async () => {
    const { email } = fresh()
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({ email })))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([201, ...Array<number>(7).fill(409)])
  })

  test('creates one customer for concurrent requests with one external reference and many emails', async () => {
    const { externalRef } = fresh()
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        create({ email: `twin-${index}@example.com`, externalRef }),
      ),
    )
    expect(new Set(answers.map(({ body }) => body.reference)).size).toBe(1)
  })

  test.each([
    ['U-1700000000000@auto-created.local', 201],
    ['not an email', 400],
    ['', 400],
  ])('responds to the email %s with %i', async (email, expected) => {
    const { status, body } = await create({ email })
    expect(status).toBe(expected)
    if (expected === 400) expect(body.message).toBe('Invalid email format')
  })

  test('keeps environments independent', async () => {
    const request = fresh()
    const sandbox = await create(request)
    const live = await create(request, tenant.liveKey)
    expect(live.status).toBe(201)
    expect(live.body.reference).not.toBe(sandbox.body.reference)
    expect((await get(`/${sandbox.body.reference}`, tenant.liveKey)).status).toBe(404)
  })
})

describe('reading', () => {
  test('finds a customer by reference, external reference and email in any case', async () => {
    const request = fresh()
    const { body } = await create(request)
    for (const query of [
      `/${body.reference}`,
      `/${request.externalRef}`,
      `?reference=${body.reference}`,
      `?externalRef=${request.externalRef}`,
      `?email=${request.email.toUpperCase()}`,
    ]) {
      expect((await get(query)).body).toEqual(body)
    }
  })

  test.each(['', '?reference=a&email=b', '?reference='])(
    'refuses the ambiguous query %s',
    async (query) => {
      const { status, body } = await get(query)
      expect([status, body]).toMatchObject([
        400,
        {
          statusCode: 400,
          error: 'Bad Request',
          message: 'Must provide exactly one of reference, externalRef, or email',
        },
      ])
    },
  )

  test("responds in the same way for other providers' customers and unknown ones", async () => {
    const other = await stack.createTenant()
    const { body } = await create(fresh(), other.sandboxKey)
    const foreign = await get(`/${body.reference}`)
    expect([foreign.status, foreign.body]).toMatchObject([
      404,
      {
        statusCode: 404,
        error: 'Not Found',
        message: `Customer with reference ${body.reference} not found`,
      },
    ])
    const byQuery = await get(`?reference=${body.reference}`)
    expect([byQuery.status, byQuery.body.message]).toEqual([404, 'Customer not found'])
  })
})

describe('changing', () => {
  const patch = (reference: string, body: object) =>
    stack.call<CustomerBody>(tenant.sandboxKey, 'PATCH', `/v1/sdk/customers/${reference}`, body)

  test('changes the given fields and keeps the others', async () => {
    const request = fresh()
    const { body } = await create({ ...request, telephone: '+1' })
    const changed = await patch(body.reference, { name: 'Grace', metadata: { a: 1 } })
    expect(changed.body).toEqual({ ...body, name: 'Grace', metadata: { a: 1 } })
    // The same values again change nothing and emit no event.
    const same = { name: 'Grace', externalRef: request.externalRef, metadata: { a: 1 } }
    expect((await patch(body.reference, same)).body).toEqual(changed.body)
    expect(await eventsOf(body.reference)).toEqual(['customer.created', 'customer.updated'])
  })

  test('refuses an email or external reference of another customer', async () => {
    const first = fresh()
    const second = fresh()
    await create(first)
    const { body } = await create(second)
    const byEmail = await patch(body.reference, { email: first.email.toUpperCase() })
    expect(byEmail.status).toBe(409)
    expect(byEmail.body.message).toMatch(/email .* already exists/)
    const byRef = await patch(body.reference, { externalRef: first.externalRef })
    expect([byRef.status, byRef.body.message]).toEqual([
      409,
      `Customer with identifier externalRef ${first.externalRef} already exists`,
    ])
    expect((await patch('cus_nobody', { name: 'x' })).status).toBe(404)
  })

  test('still finds a customer by an earlier external reference', async () => {
    const request = fresh()
    const { body } = await create(request)
    await patch(body.reference, { externalRef: `${request.externalRef}-new` })
    for (const externalRef of [request.externalRef, `${request.externalRef}-new`]) {
      const found = await get(`?externalRef=${externalRef}`)
      expect(found.body).toMatchObject({
        reference: body.reference,
        externalRef: `${request.externalRef}-new`,
      })
    }
    expect(
      await findCustomer(stack.database.in('sandbox'), tenant.providerId, request.externalRef),
    ).toMatchObject({ reference: body.reference })
  })
})
