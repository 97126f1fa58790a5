import { readingMetersMax } from '@tollgate/schemas/limits'
import type { MeterBody } from '@tollgate/schemas/http/meters'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { ProductBody } from '@tollgate/schemas/http/products'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Meters that plans charge, and how many meters may read events. */

let stack: TestStack
let tenant: Tenant
let meter: MeterBody

beforeAll(async () => {
  stack = await startTestStack()
  tenant = await stack.createTenant()
  const reading = { event: { type: 'image' }, value: '/count', dimensions: ['model', 'size'] }
  meter = (await call<MeterBody>('POST', '/v1/ui/meters', { name: 'images', ...reading })).body
})
afterAll(() => stack.stop())

async function call<Body>(method: string, path: string, body?: unknown) {
  return stack.call<Body>(tenant.sandboxKey, method, path, body)
}

async function change(body: object): Promise<unknown> {
  const answer = await call<MeterBody>('PATCH', `/v1/ui/meters/${meter.reference}`, body)
  return answer.status === 200 ? 200 : [answer.status, answer.body.code, answer.body.message]
}

test('keeps the events and the named dimensions of a meter while a plan charges it', async () => {
  const product = await call<ProductBody>('POST', '/v1/sdk/products', { name: 'Studio' })
  const plans = `/v1/sdk/products/${product.body.reference}/plans`
  const rows = [{ when: { model: 'large' }, price: '8' }]
  const charges = [{ meter: 'images', model: 'matrix', price: '4', rows }]
  const studio = { name: 'Studio', type: 'usage-based', billingModel: 'post-paid', charges }
  const plan = await call<PlanBody>('POST', plans, studio)
  const refused = [409, 'meter_charged', expect.stringContaining('by Studio.') as string]
  expect(await change({ dimensions: ['size'] })).toEqual(refused)
  expect(await change({ event: { type: 'picture' } })).toEqual(refused)
  expect(await change({ event: { type: 'image', where: { model: ['large'] } } })).toEqual(refused)
  // No charge names the size, and more dimensions break nothing.
  expect(await change({ dimensions: ['model', 'region'] })).toBe(200)
  expect(await change({ value: '/images' })).toBe(200)
  expect(await change({ displayName: 'Images' })).toBe(200)
  await call('PUT', `${plans}/${plan.body.reference}`, { status: 'archived' })
  expect(await change({ dimensions: ['size'] })).toBe(200)
})

test('keeps them while a purchase of an archived plan gives access', async () => {
  const product = await call<ProductBody>('POST', '/v1/sdk/products', { name: 'Free' })
  const plans = `/v1/sdk/products/${product.body.reference}/plans`
  const free = { name: 'Free', type: 'recurring', price: 0, billingCycle: 'monthly' }
  const charges = [{ meter: 'images', cap: 5 }]
  const plan = await call<PlanBody>('POST', plans, { ...free, charges })
  const email = 'ada@example.com'
  const customer = await call<{ reference: string }>('POST', '/v1/sdk/customers', { email })
  const names = { customerRef: customer.body.reference, productRef: product.body.reference }
  await call('POST', '/v1/sdk/activate', { ...names, planRef: plan.body.reference })
  await call('PUT', `${plans}/${plan.body.reference}`, { status: 'archived' })
  expect(await change({ event: { type: 'picture' } })).toEqual([
    ...[409, 'meter_charged', expect.stringContaining('by Free.') as string],
  ])
})

test('refuses to remove all charges of a plan, and says what to do', async () => {
  const product = await call<ProductBody>('POST', '/v1/sdk/products', { name: 'Kept' })
  const plans = `/v1/sdk/products/${product.body.reference}/plans`
  const free = { name: 'Free', type: 'recurring', price: 0, billingCycle: 'monthly' }
  const charges = [{ meter: 'images', cap: 5 }]
  const plan = await call<PlanBody>('POST', plans, { ...free, charges })
  const answer = await call<{ errors: { path: unknown[]; message: string }[] }>(
    'PUT',
    `${plans}/${plan.body.reference}`,
    { charges: [] },
  )
  expect([answer.status, answer.body.errors]).toMatchObject([
    400,
    [
      {
        path: ['charges'],
        message: expect.stringContaining('create a plan without them') as string,
      },
    ],
  ])
})

test('limits how many active meters of a provider read events', async () => {
  const sql = stack.database.in('sandbox')
  await sql`
    insert into meters (provider_id, reference, name, display_name, aggregation, unit, status, reading,
      version, version_since, created_at, updated_at)
    select ${tenant.providerId}, 'mtr_many_' || n, 'many-' || n, 'Many', 'count', 'units', 'active',
      jsonb_build_object('aggregation', 'count', 'type', 'type-' || n, 'where', '{}'::jsonb,
        'value', '[]'::jsonb, 'dimensions', '[]'::jsonb), 1, now(), now(), now()
    from generate_series(1, ${readingMetersMax - 1}) n`
  const event = { type: 'another' }
  const refused = await call('POST', '/v1/ui/meters', { name: 'another', event })
  expect(refused.status).toBe(400)
  await sql`update meters set status = 'archived' where reference = 'mtr_many_1'`
  expect((await call('POST', '/v1/ui/meters', { name: 'another', event })).status).toBe(201)
})
