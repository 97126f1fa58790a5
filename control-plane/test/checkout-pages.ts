import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { PurchaseBody } from '@tollgate/schemas/http/purchases'
import { formTokenOf } from '../src/pages/cookies.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* A stack with plans, and functions that send the forms of a checkout. */

export let stack: TestStack
export let tenant: Tenant
export let productRef: string
export const plans: Record<string, string> = {}

/**
 * Registers the hooks for the tests of the calling file. Each file must call it, because a hook at the top of this module would run
 * only in one file of each worker.
 */
export function useCheckoutPages(): void {
  beforeAll(startShop)
  afterAll(() => stack.stop())
  beforeEach(() => stack.clock.set('2026-03-01T00:00:00Z'))
}

async function startShop(): Promise<void> {
  // The setting allows card entry, but the address does not respond. No payment of these tests gets that far.
  stack = await startTestStack({ settings: { TOLLGATE_STRIPE_SANDBOX_URL: 'http://127.0.0.1:9' } })
  tenant = await stack.createTenant()
  productRef = (await call<ProductBody>('POST', '/v1/sdk/products', { name: 'API' })).reference
  for (const plan of [
    { name: 'free', type: 'recurring', price: 0 },
    { name: 'untaken', type: 'recurring', price: 0 },
    { name: 'trial', type: 'recurring', billingCycle: 'monthly', price: 500, trialDays: 7 },
    { name: 'paid', type: 'recurring', price: 500 },
    {
      name: 'capped',
      type: 'recurring',
      billingCycle: 'monthly',
      price: 700,
      trialDays: 7,
      limit: 1,
    },
    { name: 'credits', type: 'usage-based', creditsPerUnit: 100 },
    { name: 'hidden', type: 'recurring', price: 0, hidden: true },
  ]) {
    const path = `/v1/sdk/products/${productRef}/plans`
    plans[plan.name] = (await call<PlanBody>('POST', path, plan)).reference
  }
}

export async function call<Body>(method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await stack.call<Body>(tenant.sandboxKey, method, path, body)
  expect(answer.status).toBeLessThan(300)
  return answer.body
}

let customers = 0

export async function createCustomer(): Promise<string> {
  const email = `customer${customers++}@example.com`
  return (await call<CustomerBody>('POST', '/v1/sdk/customers', { email })).reference
}

export async function purchasesOf(customerRef: string): Promise<PurchaseBody[]> {
  const path = `/v1/sdk/purchases/customer/${customerRef}`
  return (await call<{ purchases: PurchaseBody[] }>('GET', path)).purchases
}

export type Opened = {
  readonly sessionId: string
  readonly path: string
  readonly cookie: string
  readonly formToken: string
}

export async function open(customerRef: string): Promise<Opened> {
  const requestBody = { customerRef, productRef }
  const path = '/v1/sdk/checkout-sessions'
  const { sessionId } = await call<{ sessionId: string }>('POST', path, requestBody)
  const link = `/customer/checkout?id=${sessionId}`
  const answer = await stack.fetch(link, { redirect: 'manual' })
  expect(answer.status).toBe(303)
  const cookie = cookiesOf(answer)
  const at = answer.headers.get('location') ?? ''
  const page = await stack.fetch(`${at}?plan=${plans['untaken']}`, { headers: { cookie } })
  const formToken = /name="formToken" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
  return { sessionId, path: at, cookie, formToken }
}

export function cookiesOf(answer: Response): string {
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}

/** Opens the link without loading its page. */
export async function openLink(sessionId: string): Promise<Opened> {
  const answer = await stack.fetch(`/customer/checkout?id=${sessionId}`, { redirect: 'manual' })
  expect(answer.status).toBe(303)
  const cookie = cookiesOf(answer)
  const path = answer.headers.get('location') ?? ''
  return { sessionId, path, cookie, formToken: formTokenOf(sessionId) }
}

export async function take(opened: Opened, how: string, plan: string | undefined): Promise<number> {
  return (await answerTo(opened, how, plan)).status
}

export async function answerTo(
  opened: Opened,
  how: string,
  plan: string | undefined,
): Promise<Response> {
  const { path, cookie, formToken } = opened
  const body = new URLSearchParams({ formToken, plan: plan ?? '' })
  const init = { method: 'POST', body, headers: { cookie }, redirect: 'manual' } as const
  return stack.fetch(`${path}/${how}`, init)
}

/** Sends a form that is refused. Returns the page to which it redirects, and the cookie with the form. */
export async function refuse(opened: Opened, how: string, plan: string): Promise<Refused> {
  const answer = await answerTo(opened, how, plans[plan])
  expect(answer.status).toBe(303)
  const [kept = ''] = answer.headers.get('set-cookie')?.split(';') ?? []
  return { path: answer.headers.get('location') ?? '', kept }
}

type Refused = { readonly path: string; readonly kept: string }

export async function pageOf(path: string, ...cookies: readonly string[]): Promise<string> {
  const headers = { cookie: cookies.join('; ') }
  return (await stack.fetch(path, { headers, redirect: 'manual' })).text()
}

/** Part of the address of the form that opens the portal. */
export const accountForm = '/account"'
