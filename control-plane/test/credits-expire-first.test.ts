import type { BalanceBody } from '@tollgate/schemas/http/credits'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { quickPasswords, signInAs } from './console-user.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

let stack: TestStack
let tenant: Tenant
let admin: string

beforeAll(async () => {
  // A long interval keeps the expiry job from running during the test.
  const settings = { ...quickPasswords, TOLLGATE_CREDIT_EXPIRY_INTERVAL_MS: '3600000' }
  stack = await startTestStack({ settings })
  tenant = await stack.createTenant()
  admin = await signInAs(stack, tenant, 'admin')
})
afterAll(() => stack.stop())

async function createPayer(email: string): Promise<string> {
  const path = '/v1/sdk/customers'
  const { body } = await stack.call<CustomerBody>(tenant.sandboxKey, 'POST', path, { email })
  const expiresAt = new Date(stack.clock.now() + 60_000).toISOString()
  await grant(body.reference, { credits: 100, expiresAt })
  stack.clock.set(expiresAt)
  return body.reference
}

const grant = (customerRef: string, body: object) =>
  stack.call<{ balance: number }>(
    tenant.sandboxKey,
    'POST',
    `/v1/sdk/customers/${customerRef}/credits`,
    body,
  )

async function movementsOf(customerRef: string): Promise<object[]> {
  const path = `/v1/ui/customers/${customerRef}/credits/transactions`
  return (await stack.call<{ transactions: object[] }>(admin, 'GET', path)).body.transactions
}

it('expires due credits before a grant', async () => {
  const customerRef = await createPayer('granted@example.com')
  expect((await grant(customerRef, { credits: 5 })).body.balance).toBe(5)
  expect(await movementsOf(customerRef)).toContainEqual(
    expect.objectContaining({ kind: 'expiry', credits: '-100' }),
  )
})

it('expires due credits before an adjustment', async () => {
  const customerRef = await createPayer('adjusted@example.com')
  const path = `/v1/ui/customers/${customerRef}/credits/adjustments`
  const refused = await stack.call(admin, 'POST', path, { amount: -1, reason: 'why' })
  expect(refused.status).toBe(400)
  const balance = `/v1/sdk/customers/${customerRef}/balance`
  expect((await stack.call<BalanceBody>(tenant.sandboxKey, 'GET', balance)).body.credits).toBe(0)
  expect(await movementsOf(customerRef)).toMatchObject([{ kind: 'expiry' }, { kind: 'grant' }])
})
