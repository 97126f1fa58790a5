import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { formTokenOf } from '../../../control-plane/src/pages/cookies.ts'
import { startMeteredStack } from './metered-stack.ts'
import { eventually } from './payment-stack.ts'

/* Packs on the pages of customers: what is shown of them, and to whom they are sold. */

vi.setConfig({ testTimeout: 120_000 })

const metered = await startMeteredStack()
const { shop } = metered
const { payments } = shop
const { productRef } = payments
afterAll(() => metered.stop())

const monthly = { billingCycle: 'monthly' }
const plan = await payments.createPlan({ price: 1_900, ...monthly, limit: 100 })
const pack = (units: number, more: object = {}) =>
  payments.createPlan({ type: 'one-time', price: 500, pack: { units }, ...more })
const fifty = await pack(50)

beforeEach(async () => {
  payments.stack.clock.set('2026-06-01T00:00:00Z')
  await shop.endAll()
  await shop.sql`update purchases set next_usage_bill_at = null, usage_closes_at = null`
  await shop.sql`update pack_accounts set due_at = null`
})

const { clock } = payments.stack
const at = (iso: string): void => clock.set(iso)
/** The clock stands still otherwise, and nothing would come before or after. */
const waitAMinute = (): void => at(new Date(clock.now() + 60_000).toISOString())

async function check({ customerRef }: Pick<Purchase, 'customerRef'>): Promise<LimitsResponse> {
  const request = { customerRef, productRef }
  return (await payments.call<LimitsResponse>('POST', '/v1/sdk/limits', request)).body
}

function buyPack({ customerRef }: Purchase, planRef: string): Promise<void> {
  waitAMinute()
  return shop.pay(customerRef, planRef, 'pm_card_visa')
}

const settle = (iso: string) =>
  shop.runJob('pack-settlement', iso, {
    ...metered.runnerSettings,
    TOLLGATE_BILLING_TRIES_MAX: '1',
  })

type OpenPage = { readonly pathname: string; readonly cookie: string }

/** Opens a hosted page like a browser. */
async function openPage(path: string, form?: Record<string, string>): Promise<OpenPage> {
  const posted = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }
  const opened = await payments.stack.fetch(path, { ...posted, redirect: 'manual' })
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
  const { pathname } = new URL(opened.headers.get('location') ?? '', 'http://127.0.0.1')
  return { pathname, cookie }
}

/** Reads a page below the open one, or sends its form. */
async function visit(
  { pathname, cookie }: OpenPage,
  below = '',
  form?: Record<string, string>,
): Promise<{ status: number; text: string; location: string }> {
  const formToken = formTokenOf(cookie.slice(cookie.indexOf('.') + 1))
  const posted =
    form === undefined ? {} : { method: 'POST', body: new URLSearchParams({ ...form, formToken }) }
  const init = { ...posted, headers: { cookie }, redirect: 'manual' } as const
  const answer = await payments.stack.fetch(pathname + below, init)
  const location = answer.headers.get('location') ?? ''
  return { status: answer.status, text: await answer.text(), location }
}

async function openPortal({ customerRef }: Purchase): Promise<OpenPage> {
  const path = '/v1/sdk/customers/customer-sessions'
  const { body } = await payments.call<{ sessionId: string }>('POST', path, { customerRef })
  return openPage('/customer/manage', { id: body.sessionId })
}

async function openCheckout({ customerRef }: Purchase, planRef: string): Promise<string> {
  const request = { customerRef, productRef, planRef }
  const path = '/v1/sdk/checkout-sessions'
  const { body } = await payments.call<{ sessionId: string }>('POST', path, request)
  return (await visit(await openPage(`/customer/checkout?id=${body.sessionId}`))).text
}

async function refund(purchase: Purchase, planRef: string, amountMinor?: number): Promise<void> {
  const [paid] = await shop.sql<{ id: string }[]>`
    select processor_payment_id as id from payment_intents
    where customer_ref = ${purchase.customerRef} and plan_ref = ${planRef}
    order by created_at desc limit 1`
  waitAMinute()
  const amount = amountMinor === undefined ? {} : { amount: String(amountMinor) }
  const [before] = await shop.sql<[{ n: number }]>`select count(*)::int as n from pack_claims`
  await payments.stripe('POST', 'refunds', { payment_intent: paid!.id, ...amount })
  await eventually(async () => {
    const [now] = await shop.sql<[{ n: number }]>`select count(*)::int as n from pack_claims`
    expect(now.n).toBe(before.n + 1)
  })
}

test('is shown in the portal beside the plan, and sold by a checkout that replaces nothing', async () => {
  const purchase = await shop.buy(plan)
  const page = await openCheckout(purchase, fifty)
  expect(page).toContain('50 units, used after those of your plan')
  expect(page).not.toContain('This replaces')
  await buyPack(purchase, fifty)
  await metered.use(purchase.customerRef, 120)
  await check(purchase)
  const { text } = await visit(await openPortal(purchase))
  expect(text).toContain('120 of 150 requests')
  expect(text).toContain('Packs: 30 units left')
  expect(text).toContain('30 of 50 units left')
})

test('shows what is left of each pack, in the order in which packs are used', async () => {
  const ten = await pack(10, { accessExpiryDays: 10 })
  const purchase = await shop.buy(plan)
  await buyPack(purchase, fifty)
  await buyPack(purchase, ten)
  await metered.use(purchase.customerRef, 113)
  await check(purchase)
  const leftIn = (text: string) => text.match(/\d+ of \d+ units left/g)?.sort()
  const { text } = await visit(await openPortal(purchase))
  expect(leftIn(text)).toEqual(['0 of 10 units left', '47 of 50 units left'])
  await refund(purchase, fifty, 250)
  const refunded = await visit(await openPortal(purchase))
  expect(leftIn(refunded.text)).toEqual(['0 of 10 units left', '22 of 25 units left'])
  // Without a running plan, what was settled last is shown, and the portal offers plans.
  await settle('2026-06-02T00:00:00Z')
  await payments.call('POST', `/v1/sdk/purchases/${purchase.reference}/cancel`, {})
  at('2026-07-01T00:00:00Z')
  await shop.runJob('renewals', '2026-07-01T10:00:00Z')
  await settle('2026-07-01T10:01:00Z')
  const ended = await visit(await openPortal(purchase))
  expect(leftIn(ended.text)).toEqual(['22 of 25 units left'])
  expect(ended.text).toContain('Choose a plan for')
})

test('is sold in the portal only to its own customer with a running plan, and only if it is on offer', async () => {
  const hidden = await pack(5, { hidden: true })
  const soldOut = await pack(5, { availability: { maxQuantity: 1 } })
  const [purchase, other] = [await shop.buy(plan), await shop.buy(plan)]
  await buyPack(purchase, fifty)
  await buyPack(other, soldOut)
  const [bought] = await shop.purchasesOf(purchase.customerRef)
  const own = await openPortal(purchase)
  const packsOf = ({ reference }: Pick<Purchase, 'reference'>) => `/purchases/${reference}/packs`

  const page = await visit(own, packsOf(purchase))
  expect([page.status, page.text.includes(fifty)]).toEqual([200, true])
  expect(page.text).not.toContain(hidden)
  expect(page.text).not.toContain(soldOut)
  expect(page.text).not.toContain(`value="${plan}"`)
  const opened = await visit(own, packsOf(purchase), { plan: fifty })
  expect([opened.status, opened.location]).toEqual([
    303,
    expect.stringContaining('/customer/checkout?id='),
  ])
  for (const planRef of [hidden, soldOut, plan, 'pln_NOBODYS00000', '']) {
    const refused = await visit(own, packsOf(purchase), { plan: planRef })
    expect([planRef, refused.status, refused.location]).toEqual([planRef, 410, ''])
  }
  // A pack is not bought beside a pack.
  expect((await visit(own, packsOf(bought!))).status).toBe(410)

  const stranger = await openPortal(other)
  const strangers: readonly (readonly [string, Record<string, string>?])[] = [
    [`/purchases/${bought!.reference}`],
    [packsOf(purchase)],
    [packsOf(purchase), { plan: fifty }],
    [`/purchases/${purchase.reference}/budget`, { amount: '5', action: 'stop' }],
    [`/purchases/${bought!.reference}/cancel`, {}],
  ]
  for (const [below, form] of strangers) {
    expect([below, (await visit(stranger, below, form)).status]).toEqual([below, 404])
  }
  expect((await visit({ ...own, cookie: stranger.cookie }, packsOf(purchase))).status).toBe(401)
  at('2026-06-01T01:00:00Z')
  for (const [below, form] of strangers) {
    expect([below, (await visit(own, below, form)).status]).toEqual([below, 401])
  }
})
