import { expect, test } from 'vitest'
import type { CouponBody, DiscountBody } from '@tollgate/schemas/http/coupons'
import type { InvoiceBody } from '@tollgate/schemas/http/invoices'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import {
  answerTo,
  call,
  cookiesOf,
  createCustomer,
  open,
  openLink,
  pageOf,
  plans,
  productRef,
  purchasesOf,
  stack,
  take,
  tenant,
  useCheckoutPages,
  type Opened,
} from './checkout-pages.ts'

/* Discount codes on the pages of a checkout. No script runs here: the forms alone are sent. */

useCheckoutPages()

let made = 0

async function createCoupon(terms: object = {}): Promise<CouponBody> {
  const code = `WELCOME${(made += 1)}`
  const coupon = { code, name: `Welcome ${made}`, percentOff: 20, duration: 'once' }
  return call<CouponBody>('POST', '/v1/ui/coupons', { ...coupon, ...terms })
}

/** Sends the form of the code. Returns the page to which it leads. */
async function enter(opened: Opened, fields: Readonly<Record<string, string>>): Promise<string> {
  const { path, cookie, formToken } = opened
  const body = new URLSearchParams({ formToken, ...fields })
  const init = { method: 'POST', body, headers: { cookie }, redirect: 'manual' } as const
  const answer = await stack.fetch(`${path}/code`, init)
  expect(answer.status).toBe(303)
  return pageOf(answer.headers.get('location') ?? '', cookie, cookiesOf(answer))
}

const codeSummary = '<summary>Do you have a discount code?</summary>'

const planPage = (opened: Opened): Promise<string> =>
  pageOf(`${opened.path}?plan=${plans['paid']}`, opened.cookie)

test('shows the discounted price after a code is entered, and the whole price after it is removed', async () => {
  const { code = '', name } = await createCoupon()
  const opened = await open(await createCustomer())
  expect(await planPage(opened)).toContain('name="code"')
  const plan = plans['paid']!
  const page = await enter(opened, { plan, currency: 'USD', code: ` ${code.toLowerCase()} ` })
  expect(page).toContain(`${name}, 20% off`)
  expect(page).toContain('-$1.00')
  expect(page).toContain('$4.00')
  const removed = await enter(opened, { plan, currency: 'USD', act: 'remove' })
  expect(removed).not.toContain(name)
  expect(removed).toContain('name="code"')
})

test('shows the next charge with the discounts that still apply to it', async () => {
  const nextOf = (page: string) =>
    /\$[\d.]+ on [A-Z][a-z]+ \d+, \d{4}/.exec(page)?.[0].split(' ')[0]
  const plan = plans['paid']!
  const entered = async (terms: object): Promise<string> => {
    const { code = '' } = await createCoupon(terms)
    return enter(await open(await createCustomer()), { plan, currency: 'USD', code })
  }
  expect(nextOf(await entered({}))).toBe('$5.00')
  expect(nextOf(await entered({ duration: 'repeating', durationInvoices: 1 }))).toBe('$5.00')
  expect(nextOf(await entered({ duration: 'repeating', durationInvoices: 2 }))).toBe('$4.00')
  expect(nextOf(await entered({ duration: 'forever', percentOff: 100 }))).toBeUndefined()
  const customerRef = await createCustomer()
  const given = await createCoupon({ duration: 'forever' })
  const couponRef = given.reference
  await call('POST', `/v1/ui/customers/${customerRef}/discounts`, { couponRef })
  const opened = await open(customerRef)
  expect(nextOf(await planPage(opened))).toBe('$4.00')
})

test('says why a code cannot be redeemed, and keeps the whole price', async () => {
  const { code: forOther = '' } = await createCoupon({ planRefs: [plans['trial']] })
  const { code: old = '' } = await createCoupon({ redeemBy: '2026-02-28T00:00:00Z' })
  const gone = await createCoupon()
  await call('POST', `/v1/ui/coupons/${gone.reference}/archive`)
  const last = await createCoupon({ maxRedemptions: 1 })
  const taken = { couponRef: last.reference }
  await call('POST', `/v1/ui/customers/${await createCustomer()}/discounts`, taken)
  const opened = await open(await createCustomer())
  const plan = plans['paid']!
  for (const [code, text] of [
    ['NO-SUCH-CODE', 'There is no such discount code.'],
    ['<script>', 'There is no such discount code.'],
    [gone.code ?? '', 'There is no such discount code.'],
    [forOther, 'This discount code is for another plan or currency.'],
    [old, 'This discount code has expired.'],
    [last.code ?? '', 'This discount code has been used up.'],
  ] as const) {
    const page = await enter(opened, { plan, currency: 'USD', code })
    expect(page, code).toContain(text)
    expect(page, code).toContain('$5.00')
  }
})

test('shows the form of the code open after a refused code, on the page of the same plan', async () => {
  const { code = '', name } = await createCoupon()
  const plan = plans['paid']!
  const bound = { customerRef: await createCustomer(), productRef, planRef: plan }
  const { sessionId } = await call<{ sessionId: string }>(
    'POST',
    '/v1/sdk/checkout-sessions',
    bound,
  )
  for (const opened of [await open(await createCustomer()), await openLink(sessionId)]) {
    expect(await planPage(opened)).toContain(`<details>${codeSummary}`)
    const page = await enter(opened, { plan, currency: 'USD', code: '"><b>NO' })
    expect(page).toContain(`<details open="">${codeSummary}`)
    expect(page).toContain('value="&quot;&gt;&lt;b&gt;NO"')
    expect(page).toContain(`name="plan" value="${plan}"`)
    expect(await planPage(opened)).toContain(`<details>${codeSummary}`)
    expect(await enter(opened, { plan, currency: 'USD', code })).toContain(name)
  }
})

test('keeps the chosen currency after a refused code, and opens an empty form again', async () => {
  const path = `/v1/sdk/products/${productRef}/plans`
  const pricingOptions = [
    { currency: 'USD', price: 900, default: true },
    { currency: 'EUR', price: 800 },
  ]
  const atlas = { name: 'Map', type: 'one-time', price: 900, pricingOptions }
  const plan = (await call<PlanBody>('POST', path, atlas)).reference
  const opened = await open(await createCustomer())
  const page = await enter(opened, { plan, currency: 'EUR', code: '' })
  expect(page).toContain(`<details open="">${codeSummary}`)
  expect(page).toContain('name="currency" value="EUR"')
  expect(page).toContain('€8.00')
})

test('refuses a code that leaves too little to charge in a currency in which the plan must be paid', async () => {
  const path = `/v1/sdk/products/${productRef}/plans`
  const pricingOptions = [
    { currency: 'USD', price: 900, default: true },
    { currency: 'EUR', price: 800 },
  ]
  const book = { name: 'Atlas', type: 'one-time', price: 900, pricingOptions }
  const plan = (await call<PlanBody>('POST', path, book)).reference
  const off = { percentOff: undefined, amountOff: 790, currency: 'EUR' }
  const { code = '' } = await createCoupon(off)
  const opened = await open(await createCustomer())
  const page = await enter(opened, { plan, currency: 'EUR', code })
  expect(page).toContain('This discount code is for another plan or currency.')
})

test('a plan without a payment does not redeem a code for another plan', async () => {
  const { code = '' } = await createCoupon({ planRefs: [plans['paid']] })
  const customerRef = await createCustomer()
  const session = { customerRef, productRef, planRef: plans['free'], couponCode: code }
  const sessions = '/v1/sdk/checkout-sessions'
  const opened = await openLink(
    (await call<{ sessionId: string }>('POST', sessions, session)).sessionId,
  )
  expect((await answerTo(opened, 'activate', plans['free'])).headers.get('location')).toContain(
    'kept=',
  )
  expect(await purchasesOf(customerRef)).toEqual([])
  const path = `/v1/ui/customers/${customerRef}/discounts`
  expect(await call('GET', path)).toEqual({ discounts: [] })
})

test('a customer enters a limited number of codes per hour, on all checkouts together', async () => {
  const customerRef = await createCustomer()
  const plan = plans['paid']!
  const entry = async (opened: Opened, fields: object = { code: 'GUESS' }): Promise<number> => {
    const { path, cookie, formToken } = opened
    const body = new URLSearchParams({ formToken, plan, currency: 'USD', ...fields })
    const init = { method: 'POST', body, headers: { cookie }, redirect: 'manual' } as const
    return (await stack.fetch(`${path}/code`, init)).status
  }
  const [one, another] = [await open(customerRef), await open(customerRef)]
  const statuses = []
  for (let made = 0; made < 30; made += 1)
    statuses.push(await entry(made % 2 === 0 ? one : another))
  expect(new Set(statuses)).toEqual(new Set([303]))
  const { code = '' } = await createCoupon()
  expect(await entry(one, { code })).toBe(429)
  expect(await entry(another)).toBe(429)
  expect(await entry(one, { act: 'remove' })).toBe(303)
  expect(await entry(await open(await createCustomer()), { code })).toBe(303)
  stack.clock.set('2026-03-01T01:00:01Z')
  expect(await entry(await open(customerRef), { code })).toBe(303)
})

test('finds no coupon of another provider or of the other environment', async () => {
  const coupon = { code: 'FOREIGN', name: 'Foreign', percentOff: 50, duration: 'once' }
  const other = await stack.createTenant()
  for (const key of [other.sandboxKey, tenant.liveKey]) {
    expect((await stack.call(key, 'POST', '/v1/ui/coupons', coupon)).status).toBe(201)
  }
  const opened = await open(await createCustomer())
  const page = await enter(opened, { plan: plans['paid']!, currency: 'USD', code: 'FOREIGN' })
  expect(page).toContain('There is no such discount code.')
  const session = { customerRef: await createCustomer(), productRef, couponCode: 'FOREIGN' }
  const answer = await stack.call(tenant.sandboxKey, 'POST', '/v1/sdk/checkout-sessions', session)
  expect([answer.status, answer.body]).toMatchObject([404, { code: 'coupon_not_found' }])
})

test('starts a plan of which a discount leaves nothing, with an invoice over nothing, exactly once', async () => {
  const path = `/v1/sdk/products/${productRef}/plans`
  const oneTime = { name: 'Book', type: 'one-time', price: 900 }
  const planRef = (await call<PlanBody>('POST', path, oneTime)).reference
  const { code = '' } = await createCoupon({ percentOff: 100, maxRedemptionsPerCustomer: 1 })
  const customerRef = await createCustomer()
  const session = { customerRef, productRef, planRef, couponCode: code }
  const sessions = '/v1/sdk/checkout-sessions'
  const { sessionId } = await call<{ sessionId: string }>('POST', sessions, session)
  const opened = await openLink(sessionId)
  const page = await pageOf(opened.path, opened.cookie)
  expect(page).toContain('/discounted"')
  expect(page).toContain('-$9.00')
  const statuses = await Promise.all(
    Array.from({ length: 5 }, () => take(opened, 'discounted', planRef)),
  )
  expect(statuses).toContain(303)
  expect(await purchasesOf(customerRef)).toMatchObject([{ status: 'active' }])
  const { invoices } = await call<{ invoices: InvoiceBody[] }>(
    'GET',
    `/v1/ui/invoices?customerRef=${customerRef}`,
  )
  expect(invoices).toMatchObject([{ status: 'paid', total: 0 }])
  const again = await call<{ sessionId: string }>('POST', sessions, session)
  const reopened = await openLink(again.sessionId)
  expect((await answerTo(reopened, 'discounted', planRef)).headers.get('location')).toContain(
    'kept=',
  )
})

test('a plan that renews needs a card, also if its first period costs nothing', async () => {
  const { code = '' } = await createCoupon({ percentOff: 100 })
  const customerRef = await createCustomer()
  const opened = await open(customerRef)
  const page = await enter(opened, { plan: plans['paid']!, currency: 'USD', code })
  expect(page).toContain('name="start" value="discounted"')
  expect((await answerTo(opened, 'discounted', plans['paid'])).headers.get('location')).toContain(
    'kept=',
  )
  expect(await purchasesOf(customerRef)).toEqual([])
})

test('a trial redeems the code for its purchase, and does not start once the code is used up', async () => {
  const { code = '', reference } = await createCoupon({ maxRedemptions: 1 })
  const [customerRef, late] = [await createCustomer(), await createCustomer()]
  const [opened, other] = [await open(customerRef), await open(late)]
  const plan = plans['trial']!
  for (const each of [opened, other]) await enter(each, { plan, currency: 'USD', code })
  expect(await take(opened, 'trial', plan)).toBe(303)
  const path = `/v1/ui/customers/${customerRef}/discounts`
  const { discounts } = await call<{ discounts: DiscountBody[] }>('GET', path)
  const [purchase] = await purchasesOf(customerRef)
  expect(discounts).toMatchObject([
    { coupon: { reference }, purchaseRef: purchase!.reference, invoicesLeft: 1 },
  ])
  expect((await answerTo(other, 'trial', plan)).headers.get('location')).toContain('kept=')
  expect(await purchasesOf(late)).toEqual([])
  // The refusal removed the code from the checkout, so the customer can start the trial without it.
  expect((await answerTo(other, 'trial', plan)).headers.get('location')).not.toContain('kept=')
  expect(await purchasesOf(late)).toHaveLength(1)
})

test('says that an entered code is no longer valid, or takes nothing off, instead of showing it as a discount', async () => {
  const plan = plans['paid']!
  const { code = '', reference, name } = await createCoupon()
  const opened = await open(await createCustomer())
  expect(await enter(opened, { plan, currency: 'USD', code })).toContain(`Your discount: ${name}`)
  await call('POST', `/v1/ui/coupons/${reference}/archive`)
  const later = await planPage(opened)
  expect(later).toContain('There is no such discount code.')
  expect(later).not.toContain('Your discount')
  // Another discount pays the whole price, so a second coupon takes nothing off.
  const customerRef = await createCustomer()
  const whole = await createCoupon({ percentOff: 100, duration: 'forever' })
  await call('POST', `/v1/ui/customers/${customerRef}/discounts`, { couponRef: whole.reference })
  const { code: further = '' } = await createCoupon()
  const page = await enter(await open(customerRef), { plan, currency: 'USD', code: further })
  expect(page).toContain('This discount code takes nothing off this plan.')
  expect(page).not.toContain('Your discount')
})
