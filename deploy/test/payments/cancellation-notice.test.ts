import { afterAll, beforeEach, expect, test } from 'vitest'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { ActivateResponse } from '@tollgate/schemas/http/activate'
import type { PurchaseBody } from '@tollgate/schemas/http/purchases'
import { eventually } from './payment-stack.ts'
import { RenewalStack } from './renewal-stack.ts'

/* A plan with a cancellation notice of 7 days: a customer who cancels later pays for one more period and keeps access in it. */

let purchase: Purchase

const shop = await RenewalStack.start({ hasWebhooks: true })
const plan = { price: 1_900, billingCycle: 'monthly', cancellationNoticeDays: 7 }
const planRef = await shop.payments.createPlan(plan)
afterAll(() => shop.stop())
beforeEach(async () => {
  shop.payments.stack.clock.set('2026-01-01T12:00:00Z')
  purchase = await shop.buy(planRef)
  return () => shop.endAll()
})

type Answer = { readonly purchase: PurchaseBody; readonly message?: string }

async function change(what: 'cancel' | 'reactivate', at: string): Promise<Answer> {
  shop.payments.stack.clock.set(at)
  const path = `/v1/sdk/purchases/${purchase.reference}/${what}`
  const { status, body } = await shop.payments.call<Answer>('POST', path, {})
  expect(status).toBe(200)
  return body
}

const now = () => shop.purchase(purchase.reference)

async function renewals(at: string): Promise<void> {
  await shop.runJob('ended-purchases', at)
  await shop.runJob('renewals', at)
}

test('ends the purchase with the current period if it is cancelled in time', async () => {
  const { purchase: shown, message } = await change('cancel', '2026-01-20T12:00:00Z')
  expect(shown).toMatchObject({ endDate: '2026-02-01T12:00:00.000Z', autoRenew: false })
  expect(message).toBeUndefined()
  await renewals('2026-02-01T13:00:00Z')
  expect((await now()).status).toBe('cancelled')
  expect(await shop.succeededChargesOf(purchase.reference)).toBe(0)
})

test('renews once and ends with the next period if it is cancelled within the notice', async () => {
  const { purchase: shown, message } = await change('cancel', '2026-01-28T12:00:00Z')
  expect(shown).toMatchObject({
    cancelledAt: '2026-01-28T12:00:00.000Z',
    nextBillingDate: '2026-02-01T12:00:00.000Z',
    endDate: '2026-03-01T12:00:00.000Z',
  })
  expect(message).toContain('renews on 2026-02-01 and ends on 2026-03-01')
  await renewals('2026-02-01T13:00:00Z')
  expect(await now()).toMatchObject({ status: 'active', autoRenew: false, nextBillingDate: null })
  expect(await shop.succeededChargesOf(purchase.reference)).toBe(1)
  // A repeated cancellation changes nothing.
  await change('cancel', '2026-02-02T12:00:00Z')
  await renewals('2026-03-01T13:00:00Z')
  expect(await now()).toMatchObject({
    status: 'cancelled',
    endedAt: new Date('2026-03-01T12:00:00Z'),
  })
  expect(await shop.succeededChargesOf(purchase.reference)).toBe(1)
})

test('renews as before after a reactivation', async () => {
  await change('cancel', '2026-01-28T12:00:00Z')
  const { purchase: shown } = await change('reactivate', '2026-01-29T12:00:00Z')
  expect(shown).toMatchObject({ nextBillingDate: '2026-02-01T12:00:00.000Z', autoRenew: true })
  expect(shown.endDate).toBeUndefined()
  await renewals('2026-02-01T13:00:00Z')
  await renewals('2026-03-01T13:00:00Z')
  expect(await now()).toMatchObject({ status: 'active', autoRenew: true })
  expect(await shop.succeededChargesOf(purchase.reference)).toBe(2)
})

test('renews from the current period if it is reactivated after its last renewal', async () => {
  await change('cancel', '2026-01-28T12:00:00Z')
  await renewals('2026-02-01T13:00:00Z')
  const { purchase: shown } = await change('reactivate', '2026-02-10T12:00:00Z')
  expect(shown).toMatchObject({ nextBillingDate: '2026-03-01T12:00:00.000Z', autoRenew: true })
})

test('retries a declined last period, which then ends as planned', async () => {
  await change('cancel', '2026-01-28T12:00:00Z')
  await shop.replaceCard(purchase.customerRef, 'pm_card_chargeCustomerFail')
  await renewals('2026-02-01T13:00:00Z')
  expect((await now()).status).toBe('past_due')
  await shop.replaceCard(purchase.customerRef, 'pm_card_visa')
  await shop.runJob('payment-retries', '2026-02-03T13:00:00Z')
  expect(await now()).toMatchObject({
    ...{ status: 'active', autoRenew: false, nextBillingDate: null },
    endDate: new Date('2026-03-01T12:00:00Z'),
  })
})

const activate = (chosen: string) =>
  shop.payments.call<ActivateResponse>('POST', '/v1/sdk/activate', {
    ...{ customerRef: purchase.customerRef, productRef: shop.payments.productRef },
    planRef: chosen,
  })

const held = async () =>
  (await shop.purchasesOf(purchase.customerRef)).find(({ status }) => status === 'active')!

test('charges one more period before a change to a free plan within the notice', async () => {
  const free = await shop.payments.createPlan({ price: 0, billingCycle: 'monthly' })
  shop.payments.stack.clock.set('2026-01-28T12:00:00Z')
  const { body } = await activate(free)
  expect(body.status).toBe('activated')
  expect(body.message).toContain('still renews on 2026-02-01, and Plan starts on 2026-03-01')
  const path = `/v1/sdk/purchases/${purchase.reference}`
  expect((await shop.payments.call<PurchaseBody>('GET', path)).body.scheduledPlan).toMatchObject({
    ...{ reference: free, startDate: '2026-03-01T12:00:00.000Z' },
  })
  await renewals('2026-02-01T13:00:00Z')
  expect(await held()).toMatchObject({ planRef, nextBillingDate: new Date('2026-03-01T12:00:00Z') })
  expect(await shop.succeededChargesOf(purchase.reference)).toBe(1)
  await renewals('2026-03-01T13:00:00Z')
  expect(await held()).toMatchObject({ planRef: free, replaces: purchase.reference })
  expect(await shop.succeededChargesOf(purchase.reference)).toBe(1)
})

test('refunds a cheaper plan that was paid after a plan with a notice began', async () => {
  const other = { price: 500, type: 'one-time' }
  const cheap = await shop.payments.createPlan(other)
  const { customerRef } = purchase
  const { productRef } = shop.payments
  const request = { customerRef, productRef, planRef: cheap }
  await shop.sql`update purchases set status = 'expired'`
  const { body } = await shop.payments.createIntent(`early-${customerRef}`, request)
  const { processorPaymentId } = body
  // A payment that the bank is processing is not cancelled when the other plan is paid.
  await shop.payments.confirm(processorPaymentId, 'pm_card_simulator_processing')
  const processed = await shop.payments.process(processorPaymentId, customerRef)
  expect(processed.body).toMatchObject({ status: 'processing' })
  await shop.pay(customerRef, planRef, 'pm_card_visa')
  await shop.payments.simulate(`payment_intents/${processorPaymentId}/settle`, { isPaid: true })
  await eventually(async () => {
    expect(await shop.refundedMinorOf(processorPaymentId)).toBe(500n)
  })
  expect(await held()).toMatchObject({ planRef })
  expect(await shop.payments.createIntent(`refused-${customerRef}`, request)).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('has a notice of 7 days') as string },
  })
  expect((await activate(cheap)).body).toMatchObject({
    ...{ status: 'invalid', message: expect.stringContaining('2026-02-01T12:00:00') as string },
  })
})

/** Opens a hosted link like a browser. The portal is opened by a form. */
async function openLink(url: string) {
  const { pathname, search, searchParams } = new URL(url)
  const fetch = (at: string, init: RequestInit = {}) =>
    shop.payments.stack.fetch(at, { ...init, redirect: 'manual' })
  const first = await fetch(pathname + search)
  const form = new URLSearchParams({ id: searchParams.get('id') ?? '' })
  const opened = first.ok ? await fetch(pathname, { method: 'POST', body: form }) : first
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
  const path = opened.headers.get('location') ?? ''
  const get = async (at: string) => (await fetch(at, { headers: { cookie } })).text()
  return { path, get }
}

test('shows on the pages when the purchase ends and what is charged until then', async () => {
  const { customerRef } = purchase
  const { productRef } = shop.payments
  shop.payments.stack.clock.set('2026-01-28T12:00:00Z')
  const sessions = '/v1/sdk/customers/customer-sessions'
  const session = await shop.payments.call<{ customerUrl: string }>('POST', sessions, {
    customerRef,
  })
  const { path, get } = await openLink(session.body.customerUrl)
  const own = `${path}/purchases/${purchase.reference}`
  expect(await get(`${own}/cancel`)).toContain('The plan still renews on')
  await change('cancel', '2026-01-28T12:00:00Z')
  expect(await get(own)).toContain('because the notice period had passed')
  const request = { customerRef: await shop.payments.createCustomer(), productRef, planRef }
  const checkout = await shop.payments.call<{ checkoutUrl: string }>(
    'POST',
    '/v1/sdk/checkout-sessions',
    request,
  )
  const review = await openLink(checkout.body.checkoutUrl)
  expect(await review.get(review.path)).toContain('Cancel at least 7 days before a period ends')
})
