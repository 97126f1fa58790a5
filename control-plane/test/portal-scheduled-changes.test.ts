import { afterAll, expect, test } from 'vitest'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { PurchaseBody } from '@tollgate/schemas/http/purchases'
import { startTestStack } from './test-stack.ts'

/* A change of plan that waits for a renewal, at the portal. */

const stack = await startTestStack()
afterAll(() => stack.stop())
const tenant = await stack.createTenant()

async function call<Body>(method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await stack.call<Body>(tenant.sandboxKey, method, path, body)
  expect(answer.status).toBeLessThan(300)
  return answer.body
}

async function post(path: string, fields: Record<string, string>, cookie = ''): Promise<Headers> {
  const body = new URLSearchParams(fields)
  const request = { method: 'POST', body, headers: { cookie }, redirect: 'manual' } as const
  return (await stack.fetch(path, request)).headers
}

test('a customer withdraws a change of its own choice, and none that the provider scheduled', async () => {
  const { reference: productRef } = await call<ProductBody>('POST', '/v1/sdk/products', {
    name: 'API',
  })
  const plans = `/v1/sdk/products/${productRef}/plans`
  const free = { type: 'recurring', price: 0, limit: 10 }
  const { reference: planRef } = await call<PlanBody>('POST', plans, { ...free, name: 'Free' })
  const later = { ...free, name: 'Later', limit: 20 }
  const { reference: laterRef } = await call<PlanBody>('POST', plans, later)
  const email = 'ada@example.com'
  const { reference: customerRef } = await call<CustomerBody>('POST', '/v1/sdk/customers', {
    email,
  })
  const activation = { customerRef, productRef, planRef }
  const { purchaseRef } = await call<{ purchaseRef: string }>(
    'POST',
    '/v1/sdk/activate',
    activation,
  )
  const purchasePath = `/v1/sdk/purchases/${purchaseRef}`
  await call('PUT', `${purchasePath}/scheduled-change`, { planRef: laterRef })

  const { sessionId } = await call<{ sessionId: string }>(
    'POST',
    '/v1/sdk/customers/customer-sessions',
    { customerRef },
  )
  const opened = await post('/customer/manage', { id: sessionId })
  const [cookie = ''] = opened.get('set-cookie')?.split(';') ?? []
  const page = `${opened.get('location')}/purchases/${purchaseRef}`
  const read = async (): Promise<string> =>
    (await stack.fetch(page, { headers: { cookie } })).text()
  const keep = async (): Promise<string | null> => {
    const formToken = /name="formToken" value="([^"]+)"/.exec(await read())?.[1] ?? ''
    return (await post(`${page}/keep`, { formToken }, cookie)).get('location')
  }
  expect(await read()).not.toContain('Do not change to Later')
  expect(await keep()).toContain('done=refused')
  await call('POST', '/v1/sdk/activate', activation)
  const kept = await call<PurchaseBody>('GET', purchasePath)
  expect(kept.scheduledPlan).toMatchObject({ reference: laterRef })

  await stack.database.in('sandbox')`
    update purchases set is_scheduled_by_provider = false where reference = ${purchaseRef}`
  expect(await read()).toContain('Do not change to Later')
  expect(await keep()).toContain('done=kept')
  const withdrawn = await call<PurchaseBody>('GET', purchasePath)
  expect(withdrawn.scheduledPlan).toBeUndefined()
  expect(await keep()).toContain('done=kept')
})
