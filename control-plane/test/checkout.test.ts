import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { PurchaseBody } from '@tollgate/schemas/http/purchases'
import { formTokenOf } from '../src/pages/cookies.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* What a checkout can be made to do, once and many times at once. What it looks like is seen in a browser. */

let stack: TestStack
let tenant: Tenant
let productRef: string
const plans: Record<string, string> = {}

beforeAll(async () => {
  // Cards could be entered; nothing answers there, and no payment of these tests comes that far.
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
    { name: 'hidden', type: 'recurring', price: 0, hidden: true },
  ]) {
    const path = `/v1/sdk/products/${productRef}/plans`
    plans[plan.name] = (await call<PlanBody>('POST', path, plan)).reference
  }
})
afterAll(() => stack.stop())
beforeEach(() => stack.clock.set('2026-03-01T00:00:00Z'))

async function call<Body>(method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await stack.call<Body>(tenant.sandboxKey, method, path, body)
  expect(answer.status).toBeLessThan(300)
  return answer.body
}

let customers = 0

async function createCustomer(): Promise<string> {
  const email = `customer${customers++}@example.com`
  return (await call<CustomerBody>('POST', '/v1/sdk/customers', { email })).reference
}

async function purchasesOf(customerRef: string): Promise<PurchaseBody[]> {
  const path = `/v1/sdk/purchases/customer/${customerRef}`
  return (await call<{ purchases: PurchaseBody[] }>('GET', path)).purchases
}

type Opened = { readonly path: string; readonly cookie: string; readonly formToken: string }

async function open(customerRef: string): Promise<Opened> {
  const asked = { customerRef, productRef }
  const path = '/v1/sdk/checkout-sessions'
  const { sessionId } = await call<{ sessionId: string }>('POST', path, asked)
  const link = `/customer/checkout?id=${sessionId}`
  const answer = await stack.fetch(link, { redirect: 'manual' })
  expect(answer.status).toBe(303)
  const [cookie = ''] = answer.headers.get('set-cookie')?.split(';') ?? []
  const at = answer.headers.get('location') ?? ''
  const page = await stack.fetch(`${at}?plan=${plans['untaken']}`, { headers: { cookie } })
  const formToken = /name="formToken" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
  return { path: at, cookie, formToken }
}

/** Opens the link, without a look at its page. */
async function openLink(sessionId: string): Promise<Opened> {
  const answer = await stack.fetch(`/customer/checkout?id=${sessionId}`, { redirect: 'manual' })
  expect(answer.status).toBe(303)
  const [cookie = ''] = answer.headers.get('set-cookie')?.split(';') ?? []
  const path = answer.headers.get('location') ?? ''
  return { path, cookie, formToken: formTokenOf(sessionId) }
}

async function take(opened: Opened, how: string, plan: string | undefined): Promise<number> {
  return (await answerTo(opened, how, plan)).status
}

async function answerTo(opened: Opened, how: string, plan: string | undefined): Promise<Response> {
  const { path, cookie, formToken } = opened
  const body = new URLSearchParams({ formToken, plan: plan ?? '' })
  const init = { method: 'POST', body, headers: { cookie }, redirect: 'manual' } as const
  return stack.fetch(`${path}/${how}`, init)
}

/** Where a refused form leads to, and what its page is to show. */
async function refuse(opened: Opened, how: string, plan: string): Promise<Refused> {
  const answer = await answerTo(opened, how, plans[plan])
  expect(answer.status).toBe(303)
  const [kept = ''] = answer.headers.get('set-cookie')?.split(';') ?? []
  return { path: answer.headers.get('location') ?? '', kept }
}

type Refused = { readonly path: string; readonly kept: string }

async function pageOf(path: string, ...cookies: readonly string[]): Promise<string> {
  const headers = { cookie: cookies.join('; ') }
  return (await stack.fetch(path, { headers, redirect: 'manual' })).text()
}

test.each([
  ['activate', 'free', 'active'],
  ['trial', 'trial', 'trialing'],
])('pressing the button ten times at once (%s) gives one purchase', async (how, plan, status) => {
  const customerRef = await createCustomer()
  const opened = await open(customerRef)
  const times = Array.from({ length: 10 }, () => take(opened, how, plans[plan]))
  const statuses = await Promise.all(times)
  expect(statuses).toContain(303)
  const purchases = await purchasesOf(customerRef)
  expect(purchases.map((purchase) => purchase.status)).toEqual([status])
  const told = await stack.database.in('sandbox')`
    select 1 from outbox where type = 'checkout_session.completed'
      and object ->> 'customer' = ${customerRef}`
  expect(told).toHaveLength(1)
})

test.each([
  ['activate', 'paid'],
  ['activate', 'trial'],
  ['activate', 'hidden'],
  ['activate', 'none'],
  ['trial', 'paid'],
  ['trial', 'free'],
])('no form gives what has to be paid or is not offered: %s %s', async (how, plan) => {
  const customerRef = await createCustomer()
  const opened = await open(customerRef)
  const { path } = await refuse(opened, how, plan)
  expect(path).toContain('kept=')
  expect(await purchasesOf(customerRef)).toEqual([])
})

test('a refused form is shown again as often as its page is loaded, and on no other page', async () => {
  const opened = await open(await createCustomer())
  const { path, kept } = await refuse(opened, 'trial', 'free')
  for (let times = 0; times < 2; times += 1) {
    expect(await pageOf(path, opened.cookie, kept)).toContain(refusedText)
  }
  for (const elsewhere of [opened.path, path.replace(/kept=.*/, 'kept=other')]) {
    expect(await pageOf(elsewhere, opened.cookie, kept)).not.toContain(refusedText)
  }
  const again = await refuse(opened, 'trial', 'free')
  expect(await pageOf(path, opened.cookie, again.kept)).not.toContain(refusedText)
  expect(await pageOf(again.path, opened.cookie, again.kept)).toContain(refusedText)
})

describe('a checkout that was issued with a key for ingest alone', () => {
  let ingestKey: string

  beforeAll(async () => {
    const made = { scopes: ['ingest'] }
    ingestKey = (await call<{ secretKey: string }>('POST', '/v1/ui/api-keys', made)).secretKey
  })

  async function openWithIngestKey(customerRef: string): Promise<Opened> {
    const asking = { customerRef, productRef, includeCheckoutSession: true }
    const path = '/v1/sdk/limits'
    const { body } = await stack.call<LimitsResponse>(ingestKey, 'POST', path, asking)
    expect(body.withinLimits).toBe(false)
    return openLink(body.checkoutSessionId!)
  }

  test('offers and takes no plan that ends another purchase', async () => {
    const customerRef = await createCustomer()
    expect(await take(await open(customerRef), 'trial', plans['capped'])).toBe(303)
    const of = { providerId: tenant.providerId, customerRef, productRef, units: 1 }
    await stack.countUsage(of)
    const bound = await openWithIngestKey(customerRef)
    for (const name of ['free', 'trial', 'paid']) {
      const page = await pageOf(`${bound.path}?plan=${plans[name]}`, bound.cookie)
      expect(page).not.toContain(`<h1>${name}</h1>`)
    }
    for (const [how, name] of [
      ['activate', 'free'],
      ['trial', 'trial'],
      ['pay', 'paid'],
    ] as const) {
      await refuse(bound, how, name)
    }
    const purchases = await purchasesOf(customerRef)
    expect(purchases.map(({ status, planSnapshot }) => [status, planSnapshot?.reference])).toEqual([
      ['trialing', plans['capped']],
    ])
    const unbound = await open(customerRef)
    expect(await take(unbound, 'activate', plans['free'])).toBe(303)
    expect(await purchasesOf(customerRef)).toHaveLength(2)
  })

  test('lets a customer without a purchase take a plan', async () => {
    const customerRef = await createCustomer()
    const bound = await openWithIngestKey(customerRef)
    expect(await pageOf(bound.path, bound.cookie)).toContain('aria-label="Choose free"')
    expect(await take(bound, 'activate', plans['free'])).toBe(303)
    expect(await purchasesOf(customerRef)).toHaveLength(1)
    expect(await pageOf(bound.path, bound.cookie)).not.toContain(accountForm)
    expect(await take(bound, 'account', undefined)).toBe(410)
  })
})

const accountForm = '/account"'

describe('from a completed checkout to the portal', () => {
  async function complete(): Promise<Opened> {
    const opened = await open(await createCustomer())
    expect(await take(opened, 'activate', plans['free'])).toBe(303)
    return opened
  }

  test('lets one browser in, once', async () => {
    const opened = await complete()
    expect(await pageOf(opened.path, opened.cookie)).toContain(accountForm)
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => answerTo(opened, 'account', undefined)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 410, 410, 410])
    const letIn = answers.find(({ status }) => status === 303)
    const [cookie = ''] = letIn?.headers.get('set-cookie')?.split(';') ?? []
    const portal = letIn?.headers.get('location') ?? ''
    expect(portal).toMatch(/^\/customer\/manage\/[0-9a-f]{20}$/)
    expect(await pageOf(portal, cookie)).toContain('free')
    // Another browser with the checkout's cookie is not offered the way; this one is led to its open portal.
    const other = await pageOf(opened.path, opened.cookie)
    expect(other).not.toContain(accountForm)
    expect(other).not.toContain(portal)
    expect(await pageOf(opened.path, opened.cookie, cookie)).toContain(`href="${portal}"`)
  })

  test('does not lead there before it is completed, or later than a link would', async () => {
    const unused = await open(await createCustomer())
    expect(await take(unused, 'account', undefined)).toBe(410)
    const opened = await complete()
    expect(await take({ ...opened, formToken: 'x' }, 'account', undefined)).toBe(403)
    stack.clock.set('2026-03-01T00:15:00Z')
    expect(await pageOf(opened.path, opened.cookie)).not.toContain(accountForm)
    expect(await take(opened, 'account', undefined)).toBe(410)
  })

  test('names the checkout and its customer in the audit log', async () => {
    const opened = await complete()
    expect(await take(opened, 'account', undefined)).toBe(303)
    const reference = opened.path.split('/').at(-1) ?? ''
    const sql = stack.database.in('sandbox')
    const [session] = await sql`
      select customer_ref, issued_by, status from customer_sessions
      where issued_by = ${`checkout:${reference}`}`
    expect(session).toMatchObject({ status: 'used' })
    const customerRef = session?.['customer_ref'] as string
    const entries = await sql`
      select actor from audit_log where kind = 'customer_sessions' and reference = ${customerRef}`
    expect(entries).toEqual([{ actor: `customer:${customerRef}` }])
  })
})

test('a completed checkout leads to one that sells credits', async () => {
  const opened = await open(await createCustomer())
  expect(await take(opened, 'activate', plans['free'])).toBe(303)
  const answer = await answerTo(opened, 'credits', undefined)
  const link = new URL(answer.headers.get('location') ?? '', 'http://localhost')
  const next = await openLink(link.searchParams.get('id') ?? '')
  expect(await pageOf(next.path, next.cookie)).toContain('<h1>Buy credits</h1>')
})

test('a checkout for credits takes no plan, whatever product it names', async () => {
  const customerRef = await createCustomer()
  const asked = { customerRef, productRef, purpose: 'credit_topup' }
  const path = '/v1/sdk/checkout-sessions'
  const { sessionId } = await call<{ sessionId: string }>('POST', path, asked)
  const opened = await openLink(sessionId)
  for (const [how, name] of [
    ['activate', 'free'],
    ['trial', 'trial'],
  ] as const) {
    expect((await answerTo(opened, how, plans[name])).headers.get('location')).toBe(opened.path)
  }
  expect(await purchasesOf(customerRef)).toEqual([])
})

test('shows prices in a currency that is sold, whatever the address asks for', async () => {
  const customerRef = await createCustomer()
  const asked = { customerRef, purpose: 'credit_topup' }
  const path = '/v1/sdk/checkout-sessions'
  const { sessionId } = await call<{ sessionId: string }>('POST', path, asked)
  const credits = await openLink(sessionId)
  const page = await pageOf(`${credits.path}?amount=25&currency=%3Cb`, credits.cookie)
  expect(page).toContain('You will receive 250,000 credits.')
  const plansPage = await open(customerRef)
  const choice = await pageOf(`${plansPage.path}?currency=%3Cb`, plansPage.cookie)
  expect(choice).toContain('aria-label="Choose free"')
})

test('nobody else puts words on a page', async () => {
  const opened = await open(await createCustomer())
  const { path, kept } = await refuse(opened, 'trial', 'free')
  const [name, value] = kept.split('=') as [string, string]
  const [mark, , signature] = value.split('.') as [string, string, string]
  const json = JSON.stringify({ fields: {}, text: 'Pay me instead' })
  const words = Buffer.from(json).toString('base64url')
  const theirs = await refuse(await open(await createCustomer()), 'trial', 'free')
  for (const forged of [
    `${name}=${mark}.${words}.${signature}`,
    `${name}=${mark}.${words}.`,
    `${name}=${mark}.${words}`,
    `${name}=${mark}`,
    `${name}=`,
  ]) {
    const page = await pageOf(path, opened.cookie, forged)
    expect(page).toContain('<h1>')
    expect(page).not.toContain('role="alert"')
  }
  const foreign = theirs.path.replace(/^[^?]*/, opened.path)
  expect(await pageOf(foreign, opened.cookie, theirs.kept)).not.toContain(refusedText)
})

const refusedText = 'This plan can no longer be started in this way.'

test('a plan is tried once', async () => {
  const customerRef = await createCustomer()
  expect(await take(await open(customerRef), 'trial', plans['trial'])).toBe(303)
  expect(await take(await open(customerRef), 'activate', plans['free'])).toBe(303)
  await refuse(await open(customerRef), 'trial', 'trial')
  const purchases = await purchasesOf(customerRef)
  expect(purchases.map(({ status }) => status).sort()).toEqual(['active', 'expired'])
})

test('nothing is bought when the time is up, or without the page’s own token', async () => {
  const customerRef = await createCustomer()
  const opened = await open(customerRef)
  expect(await take({ ...opened, formToken: 'x' }, 'activate', plans['free'])).toBe(403)
  expect(await take({ ...opened, cookie: '' }, 'activate', plans['free'])).toBe(401)
  stack.clock.set('2026-03-01T00:15:00Z')
  expect(await take(opened, 'activate', plans['free'])).toBe(410)
  expect(await purchasesOf(customerRef)).toEqual([])
})
