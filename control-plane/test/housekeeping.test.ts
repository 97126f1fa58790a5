import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { listOutboxEvents } from '@tollgate/domain/outbox/repository'
import type { ActivateResponse } from '@tollgate/schemas/http/activate'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { PurchaseBody } from '@tollgate/schemas/http/purchases'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* What time alone brings about. */

const intervalMs = 50
const patience = { timeout: 10_000, interval: intervalMs }

let stack: TestStack
let tenant: Tenant
let customerRef: string

beforeAll(async () => {
  stack = await startTestStack({
    settings: {
      TOLLGATE_HOUSEKEEPING_INTERVAL_MS: `${intervalMs}`,
      TOLLGATE_SESSIONS_KEPT_HOURS: '1',
    },
  })
})
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.clock.set('2026-01-31T12:00:00Z')
  tenant = await stack.createTenant()
  const fields = { email: 'a@example.com' }
  customerRef = (await call<CustomerBody>('POST', '/v1/sdk/customers', fields)).body.reference
})

function call<Body>(method: string, path: string, body?: unknown) {
  return stack.call<Body>(tenant.sandboxKey, method, path, body)
}

async function endings(): Promise<string[]> {
  const events = await listOutboxEvents(stack.database.in('sandbox'), tenant.providerId, 1_000)
  return events.map(({ type }) => type).filter((type) => /\.(cancelled|expired)$/.test(type))
}

test.each([
  ['a cancelled purchase', {}, true, 'cancelled'],
  ['one that does not renew', { autoRenew: false }, false, 'expired'],
])('%s says that it has ended when it has', async (_, fields, isCancelled, status) => {
  const product = await call<ProductBody>('POST', '/v1/sdk/products', { name: 'API' })
  const productRef = product.body.reference
  const plans = `/v1/sdk/products/${productRef}/plans`
  const plan = await call<PlanBody>('POST', plans, { name: 'Free', price: 0, ...fields })
  const body = { customerRef, productRef, planRef: plan.body.reference }
  const { purchaseRef } = (await call<ActivateResponse>('POST', '/v1/sdk/activate', body)).body
  const path = `/v1/sdk/purchases/${purchaseRef}`
  if (isCancelled) await call('POST', `${path}/cancel`)

  stack.clock.set('2026-02-28T11:59:59.999Z')
  await sleep(4 * intervalMs)
  expect(await endings()).toEqual([])
  stack.clock.set('2026-02-28T12:00:00Z')
  await vi.waitFor(async () => {
    expect((await call<PurchaseBody>('GET', path)).body.status).toBe(status)
  }, patience)
  await sleep(4 * intervalMs)
  expect(await endings()).toEqual([`purchase.${status}`])
})

test('a session that expired long ago is forgotten', async () => {
  const sessions = '/v1/sdk/customers/customer-sessions'
  const { body } = await call<{ sessionId: string }>('POST', sessions, { customerRef })
  const path = `${sessions}/${body.sessionId}`
  stack.clock.set('2026-01-31T13:15:00.000Z')
  await sleep(4 * intervalMs)
  expect((await call(`GET`, path)).status).toBe(200)
  stack.clock.set('2026-01-31T13:15:00.001Z')
  await vi.waitFor(async () => expect((await call('GET', path)).status).toBe(404), patience)
})

test('a checkout that nobody completed says so once, however many processes look', async () => {
  const other = stack.createService()
  await other.start()
  const checkout = { customerRef, purpose: 'credit_topup' }
  for (let opened = 0; opened < 5; opened++) {
    await call('POST', '/v1/sdk/checkout-sessions', checkout)
  }
  stack.clock.set('2026-01-31T12:14:59.999Z')
  await sleep(4 * intervalMs)
  expect(await endings()).toEqual([])
  stack.clock.set('2026-01-31T12:15:00.000Z')
  await vi.waitFor(async () => expect(await endings()).toHaveLength(5), patience)
  await sleep(4 * intervalMs)
  await other.stop()
  expect(await endings()).toEqual(Array(5).fill('checkout_session.expired'))
})
