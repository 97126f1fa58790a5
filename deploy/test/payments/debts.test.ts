import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { ActivateResponse } from '@tollgate/schemas/http/activate'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import { eventually } from './payment-stack.ts'
import { RenewalStack } from './renewal-stack.ts'

/* A renewal cannot be charged. Until its invoice is paid, the customer cannot start a plan of the product. */

let purchase: Purchase

const stack = await RenewalStack.start({ hasWebhooks: true })
const monthly = { billingCycle: 'monthly' }
const paidRef = await stack.payments.createPlan({ price: 1900, ...monthly })
const freeRef = await stack.payments.createPlan({ price: 0, default: true, limit: 10, ...monthly })
const trialRef = await stack.payments.createPlan({ price: 900, trialDays: 7, ...monthly })
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.payments.stack.clock.set('2026-01-31T12:00:00Z')
  purchase = await stack.buy(paidRef)
  await stack.replaceCard(purchase.customerRef, 'pm_card_chargeCustomerFail')
  return async () => {
    await stack.sql`update purchases set status = 'expired'`
    await stack.sql`update invoices set next_charge_at = null, status = 'void' where status = 'open'`
  }
})

async function suspend(): Promise<void> {
  const once = { TOLLGATE_PAYMENT_RETRY_HOURS: '1' }
  await stack.runJob('renewals', '2026-03-01T10:00:00Z', once)
  await stack.runJob('payment-retries', '2026-03-01T11:00:00Z', once)
  expect(await statusOf()).toBe('suspended')
}

async function statusOf(): Promise<string> {
  return (await stack.purchase(purchase.reference)).status
}

async function activate(planRef: string): Promise<ActivateResponse> {
  const { customerRef } = purchase
  const request = { customerRef, productRef: stack.payments.productRef, planRef }
  return (await stack.payments.call<ActivateResponse>('POST', '/v1/sdk/activate', request)).body
}

async function check(): Promise<LimitsResponse> {
  const request = { customerRef: purchase.customerRef, productRef: stack.payments.productRef }
  return (await stack.payments.call<LimitsResponse>('POST', '/v1/sdk/limits', request)).body
}

/** Opens the checkout's pages like a browser. */
async function openCheckout(checkoutUrl = '') {
  const fetch = (at: string, init: RequestInit) => stack.payments.stack.fetch(at, init)
  const { pathname, search } = new URL(checkoutUrl)
  const opened = await fetch(pathname + search, { redirect: 'manual' })
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
  const path = opened.headers.get('location') ?? ''
  const get = (at: string) => fetch(at, { headers: { cookie }, redirect: 'manual' })
  const page = await (await get(path)).text()
  const formToken = /name="formToken" value="([^"]+)"/.exec(page)?.[1] ?? ''
  const post = (at: string) => {
    const body = new URLSearchParams({ formToken })
    return fetch(at, { method: 'POST', body, headers: { cookie }, redirect: 'manual' })
  }
  return { path, page, get, post }
}

/** Pays the first unpaid invoice on the checkout's page. */
async function payDebt(checkoutUrl: string | undefined, card = 'pm_card_visa'): Promise<void> {
  const { path, page, get, post } = await openCheckout(checkoutUrl)
  expect(page).toContain('Please pay your unpaid invoices first')
  const form = /action="([^"]+\/debts\/[^"]+)"/.exec(page)?.[1] ?? ''
  const payment = (await post(form)).headers.get('location') ?? ''
  expect(await (await get(payment)).text()).toContain('Pay $19.00')
  const intentRef = payment.split('/').at(-1)!
  const [intent] = await stack.sql<{ processor_payment_id: string }[]>`
    select processor_payment_id from payment_intents where reference = ${intentRef}`
  await stack.payments.confirm(intent!.processor_payment_id, card)
  const paid = await get(`${path}/paid/${intentRef}`)
  expect([paid.status, await paid.text()]).toEqual([
    200,
    expect.stringContaining('Your invoice is paid'),
  ])
}

describe('while the invoice is unpaid', () => {
  beforeEach(suspend)

  test.each([
    ['the suspended plan', () => paidRef],
    ['a free plan', () => freeRef],
    ['a plan with a trial', () => trialRef],
  ])('answers the activation of %s with a checkout that shows the debt', async (_, planRef) => {
    const answer = await activate(planRef())
    expect(answer).toMatchObject({
      status: 'payment_required',
      message: expect.stringContaining('unpaid invoices') as string,
    })
    const { path, page, post } = await openCheckout(answer.checkoutUrl)
    expect(page).toContain('Please pay your unpaid invoices first')
    for (const act of ['activate', 'trial', 'pay']) await post(`${path}/${act}`)
    expect(await stack.purchasesOf(purchase.customerRef)).toHaveLength(1)
    expect(await check()).toMatchObject({ withinLimits: false, remaining: 0, plan: '' })
  })

  test('creates no payment intent for a plan', async () => {
    const { customerRef } = purchase
    const request = { customerRef, productRef: stack.payments.productRef, planRef: paidRef }
    const { status, body } = await stack.payments.createIntent(`debt-${customerRef}`, request)
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('unpaid') as string },
    })
  })

  test('restores the suspended purchase once when the invoice is paid', async () => {
    const { checkoutUrl } = await activate(paidRef)
    await payDebt(checkoutUrl)
    expect(await statusOf()).toBe('active')
    expect(await check()).toMatchObject({ withinLimits: true, plan: paidRef })
    expect(await activate(paidRef)).toMatchObject({ status: 'already_active' })
    expect(await stack.succeededChargesOf(purchase.reference)).toBe(1)
    expect((await activate(freeRef)).status).toBe('activated')
  })
})

test('blocks a change of plan while an invoice is past due, and keeps the current plan', async () => {
  await stack.runJob('renewals', '2026-03-01T10:00:00Z')
  expect(await statusOf()).toBe('past_due')
  expect((await activate(freeRef)).status).toBe('payment_required')
  expect((await activate(paidRef)).status).toBe('already_active')
  expect(await check()).toMatchObject({ withinLimits: true })
})

test('blocks until an uncollectible invoice is paid, but not for a void one', async () => {
  await suspend()
  const [{ reference } = { reference: '' }] = await stack.invoicesOf(purchase.reference)
  await stack.sql`delete from billed_periods where invoice_ref = ${reference}`
  await stack.sql`update purchases set status = 'expired' where reference = ${purchase.reference}`
  await stack.sql`update payment_intents set cancel_wanted = true, next_look_at = created_at where invoice_ref = ${reference}`
  await stack.sql`update invoices set status = 'uncollectible', closed_at = now() where reference = ${reference}`
  await eventually(async () => {
    const rows = await stack.sql`
      select 1 from payment_intents where invoice_ref = ${reference} and status = 'failed'`
    expect(rows).toHaveLength(1)
  })
  const { status, checkoutUrl } = await activate(freeRef)
  expect(status).toBe('payment_required')
  await payDebt(checkoutUrl)
  expect((await stack.invoicesOf(purchase.reference))[0]).toMatchObject({ status: 'paid' })
  expect((await activate(freeRef)).status).toBe('activated')
})
