import { beforeAll, describe, expect, test } from 'vitest'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import {
  stack,
  tenant,
  productRef,
  plans,
  call,
  createCustomer,
  purchasesOf,
  open,
  openLink,
  take,
  answerTo,
  refuse,
  pageOf,
  accountForm,
  useCheckoutPages,
  type Opened,
} from './checkout-pages.ts'

/* The effects of a checkout, with single and concurrent requests. Browser tests cover the appearance of its pages. */

useCheckoutPages()

test.each([
  ['activate', 'free', 'active'],
  ['trial', 'trial', 'trialing'],
])(
  'creates one purchase when the button is pressed 10 times at once (%s)',
  async (how, plan, status) => {
    const customerRef = await createCustomer()
    const opened = await open(customerRef)
    const times = Array.from({ length: 10 }, () => take(opened, how, plans[plan]))
    const statuses = await Promise.all(times)
    expect(statuses).toContain(303)
    const purchases = await purchasesOf(customerRef)
    expect(purchases.map((purchase) => purchase.status)).toEqual([status])
    const events = await stack.database.in('sandbox')`
    select 1 from outbox where type = 'checkout_session.completed'
      and object ->> 'customer' = ${customerRef}`
    expect(events).toHaveLength(1)
  },
)

test.each([
  ['activate', 'paid'],
  ['activate', 'trial'],
  ['activate', 'hidden'],
  ['activate', 'none'],
  ['trial', 'paid'],
  ['trial', 'free'],
])('starts no plan that must be paid or is not offered: %s %s', async (how, plan) => {
  const customerRef = await createCustomer()
  const opened = await open(customerRef)
  const { path } = await refuse(opened, how, plan)
  expect(path).toContain('kept=')
  expect(await purchasesOf(customerRef)).toEqual([])
})

test('shows a refused form again on each reload, and on no other page', async () => {
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

describe('a checkout that was opened with a key for ingest', () => {
  let ingestKey: string

  beforeAll(async () => {
    const made = { scopes: ['ingest'] }
    ingestKey = (await call<{ secretKey: string }>('POST', '/v1/ui/api-keys', made)).secretKey
  })

  async function openWithIngestKey(customerRef: string): Promise<Opened> {
    const limitsBody = { customerRef, productRef, includeCheckoutSession: true }
    const path = '/v1/sdk/limits'
    const { body } = await stack.call<LimitsResponse>(ingestKey, 'POST', path, limitsBody)
    expect(body.withinLimits).toBe(false)
    return openLink(body.checkoutSessionId!)
  }

  test('neither offers nor starts a plan that ends another purchase', async () => {
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

  test('lets a customer without a purchase start a plan', async () => {
    const customerRef = await createCustomer()
    const bound = await openWithIngestKey(customerRef)
    expect(await pageOf(bound.path, bound.cookie)).toContain('aria-label="Choose free"')
    expect(await take(bound, 'activate', plans['free'])).toBe(303)
    expect(await purchasesOf(customerRef)).toHaveLength(1)
    expect(await pageOf(bound.path, bound.cookie)).not.toContain(accountForm)
    expect(await take(bound, 'account', undefined)).toBe(410)
  })
})

test('starts no plan on a checkout for credits, whatever product it names', async () => {
  const customerRef = await createCustomer()
  const requestBody = { customerRef, productRef, purpose: 'credit_topup' }
  const path = '/v1/sdk/checkout-sessions'
  const { sessionId } = await call<{ sessionId: string }>('POST', path, requestBody)
  const opened = await openLink(sessionId)
  for (const [how, name] of [
    ['activate', 'free'],
    ['trial', 'trial'],
  ] as const) {
    expect((await answerTo(opened, how, plans[name])).headers.get('location')).toBe(opened.path)
  }
  expect(await purchasesOf(customerRef)).toEqual([])
})

test('shows prices in a currency of the plan, whatever the address requests', async () => {
  const customerRef = await createCustomer()
  const requestBody = { customerRef, purpose: 'credit_topup' }
  const path = '/v1/sdk/checkout-sessions'
  const { sessionId } = await call<{ sessionId: string }>('POST', path, requestBody)
  const credits = await openLink(sessionId)
  const page = await pageOf(`${credits.path}?amount=25&currency=%3Cb`, credits.cookie)
  expect(page).toContain('You will receive 250,000 credits.')
  const plansPage = await open(customerRef)
  const choice = await pageOf(`${plansPage.path}?currency=%3Cb`, plansPage.cookie)
  expect(choice).toContain('aria-label="Choose free"')
})

test('shows no text that another site put into a form', async () => {
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

test('allows one trial of a plan', async () => {
  const customerRef = await createCustomer()
  expect(await take(await open(customerRef), 'trial', plans['trial'])).toBe(303)
  expect(await take(await open(customerRef), 'activate', plans['free'])).toBe(303)
  await refuse(await open(customerRef), 'trial', 'trial')
  const purchases = await purchasesOf(customerRef)
  expect(purchases.map(({ status }) => status).sort()).toEqual(['active', 'expired'])
})

test('sells nothing after the expiry, or without the token of the page', async () => {
  const customerRef = await createCustomer()
  const opened = await open(customerRef)
  expect(await take({ ...opened, formToken: 'x' }, 'activate', plans['free'])).toBe(403)
  expect(await take({ ...opened, cookie: '' }, 'activate', plans['free'])).toBe(401)
  stack.clock.set('2026-03-01T00:15:00Z')
  expect(await take(opened, 'activate', plans['free'])).toBe(410)
  expect(await purchasesOf(customerRef)).toEqual([])
})
