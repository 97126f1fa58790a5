import { afterAll, beforeEach, expect, test } from 'vitest'
import { listLines } from '@tollgate/domain/invoices/lines'
import { listInvoices } from '@tollgate/domain/invoices/repository'
import { recomputeInvoice } from '@tollgate/domain/invoices/recompute-invoice'
import type { ActivateResponse } from '@tollgate/schemas/http/activate'
import type { CouponBody, DiscountBody } from '@tollgate/schemas/http/coupons'
import type { PaymentIntentBody } from '@tollgate/schemas/http/payment-intents'
import { eventually } from './payment-stack.ts'
import { RenewalStack } from './renewal-stack.ts'

/* Coupons on the management API, with the simulator of Stripe and the billing runner. */

const stack = await RenewalStack.start({ hasWebhooks: true })
const { payments } = stack
const monthly = { billingCycle: 'monthly', prorationPolicy: 'proportional' }
const small = await payments.createPlan({ price: 2_000, setupFee: 1_000, ...monthly })
const big = await payments.createPlan({ price: 5_000, ...monthly })
const book = await payments.createPlan({
  ...{ type: 'one-time', price: 900 },
  pricingOptions: [
    { currency: 'USD', price: 900, default: true },
    { currency: 'EUR', price: 800 },
  ],
})
afterAll(() => stack.stop())
beforeEach(() => {
  payments.stack.clock.set('2026-06-01T00:00:00Z')
  return stack.sql`update purchases set status = 'expired', ended_at = now()`
})

let made = 0

async function createCoupon(terms: object): Promise<CouponBody> {
  const code = `CODE${(made += 1)}`
  const answer = await payments.call<CouponBody>('POST', '/v1/ui/coupons', {
    ...{ code, name: 'Launch', percentOff: 25, duration: 'repeating', durationInvoices: 2 },
    ...terms,
  })
  expect(answer.status).toBe(201)
  return answer.body
}

type Wanted = { readonly customerRef: string; readonly planRef?: string; readonly code?: string }

function request({ customerRef, planRef = small, code }: Wanted) {
  made += 1
  return payments.createIntent(`coupon-${made}`, {
    ...{ customerRef, productRef: payments.productRef, planRef },
    ...(code === undefined ? {} : { couponCode: code }),
  })
}

async function buy(wanted: Wanted): Promise<PaymentIntentBody> {
  const { status, body } = await request(wanted)
  expect([status, body]).toEqual([201, body])
  await payments.confirm(body.processorPaymentId)
  await payments.process(body.processorPaymentId, wanted.customerRef)
  return body
}

async function held(customerRef: string) {
  const purchases = await stack.purchasesOf(customerRef)
  return purchases.find(({ status }) => status === 'active')!
}

/** Returns all invoices of the purchase, newest first, with that of the sale. */
async function allInvoicesOf(purchaseRef: string) {
  const { providerId } = payments.tenant
  const page = { limit: 100, offset: 0 }
  return (await listInvoices(stack.sql, providerId, { purchaseRef }, page)).invoices
}

/** Returns what each line of the newest invoice charges, by kind. Every invoice can be computed again. */
async function newestLines(purchaseRef: string) {
  const { providerId } = payments.tenant
  const [invoice] = await allInvoicesOf(purchaseRef)
  const lines = await listLines(stack.sql, providerId, invoice!.reference)
  expect(recomputeInvoice({ ...invoice!, lines })).toEqual([])
  return lines.map(({ inputs, amountMinor }) => [inputs.kind, Number(amountMinor)])
}

async function discountsOf(customerRef: string): Promise<DiscountBody[]> {
  const path = `/v1/ui/customers/${customerRef}/discounts`
  return (await payments.call<{ discounts: DiscountBody[] }>('GET', path)).body.discounts
}

test('discounts the first payment and one renewal, and then charges the whole price', async () => {
  const { code = '', reference } = await createCoupon({})
  const customerRef = await payments.createCustomer()
  const intent = await buy({ customerRef, code: code.toLowerCase() })
  expect(intent.originalAmount).toBe(2_250)
  const purchase = await held(customerRef)
  expect(purchase.originalAmountMinor).toBe(3_000)
  expect(await newestLines(purchase.reference)).toEqual([
    ['recurring', 2_000],
    ['setup_fee', 1_000],
    ['discount', -750],
  ])
  expect(await discountsOf(customerRef)).toMatchObject([
    { purchaseRef: purchase.reference, status: 'active', invoicesLeft: 1 },
  ])
  await stack.runJob('renewals', '2026-07-01T10:00:00Z')
  expect(await newestLines(purchase.reference)).toEqual([
    ['recurring', 2_000],
    ['discount', -500],
  ])
  await stack.runJob('renewals', '2026-08-01T10:00:00Z')
  expect(await newestLines(purchase.reference)).toEqual([['recurring', 2_000]])
  const coupon = await payments.call<CouponBody>('GET', `/v1/ui/coupons/${reference}`)
  expect(coupon.body.redemptions).toBe(1)
})

test('a change of plan continues the discount of the period', async () => {
  const { code = '' } = await createCoupon({ duration: 'once', durationInvoices: undefined })
  const customerRef = await payments.createCustomer()
  await buy({ customerRef, code })
  payments.stack.clock.set('2026-06-16T00:00:00Z')
  const another = await createCoupon({})
  const refused = await request({ customerRef, planRef: big, code: another.code! })
  expect([refused.status, refused.body]).toMatchObject([
    400,
    { message: expect.stringContaining('within a paid period') as string },
  ])
  // Half of June is left: 25% less than half of the difference of 30 dollars.
  const intent = await buy({ customerRef, planRef: big })
  expect(intent.originalAmount).toBe(1_125)
  const { reference } = await held(customerRef)
  expect(await newestLines(reference)).toEqual([
    ['proration', 1_500],
    ['discount', -375],
  ])
  // Back to the cheaper plan: the credit is of what was paid.
  const activated = await payments.call<ActivateResponse>('POST', '/v1/sdk/activate', {
    ...{ customerRef, productRef: payments.productRef, planRef: small },
  })
  expect(activated.body.status).toBe('activated')
  const back = await held(customerRef)
  expect(await newestLines(back.reference)).toEqual([
    ['proration', -1_500],
    ['discount', 375],
  ])
})

test('a discount continues with a change back from a plan that it is not for', async () => {
  const { code = '' } = await createCoupon({
    ...{ duration: 'once', durationInvoices: undefined },
    planRefs: [small],
  })
  const customerRef = await payments.createCustomer()
  await buy({ customerRef, code })
  payments.stack.clock.set('2026-06-16T00:00:00Z')
  await buy({ customerRef, planRef: big })
  const { reference } = await held(customerRef)
  expect(await newestLines(reference)).toEqual([
    ['proration', 1_500],
    ['discount', 250],
  ])
  await payments.call('POST', '/v1/sdk/activate', {
    ...{ customerRef, productRef: payments.productRef, planRef: small },
  })
  const back = await held(customerRef)
  expect(await newestLines(back.reference)).toEqual([
    ['proration', -1_500],
    ['discount', -250],
  ])
})

test('a coupon is not added again with a plan that replaces the discounted one, and none to a scheduled plan', async () => {
  const { code = '' } = await createCoupon({ duration: 'forever', durationInvoices: undefined })
  const full = await payments.createPlan({ price: 4_000, ...monthly, prorationPolicy: 'full' })
  const later = await payments.createPlan({ price: 4_000, ...monthly, prorationPolicy: 'none' })
  const customerRef = await payments.createCustomer()
  // Opened before the coupon is redeemed.
  const open = (await request({ customerRef, planRef: full, code })).body
  await buy({ customerRef, code })
  const refusal = async (planRef: string, another: string) =>
    (await request({ customerRef, planRef, code: another })).body
  expect(await refusal(full, code)).toMatchObject({
    message: expect.stringContaining('has its discount already') as string,
  })
  const { code: another = '' } = await createCoupon({})
  expect(await refusal(later, another)).toMatchObject({
    message: expect.stringContaining('within a paid period') as string,
  })
  await payments.confirm(open.processorPaymentId).catch(() => undefined)
  await payments.process(open.processorPaymentId, customerRef)
  expect((await held(customerRef)).planRef).toBe(small)
  expect(await discountsOf(customerRef)).toHaveLength(1)
})

test('a one-time plan of which discounts leave nothing is sold without a payment, and once', async () => {
  for (const [currency, price] of [
    ['USD', 900],
    ['EUR', 800],
  ] as const) {
    const customerRef = await createFreeloader()
    const wanted = { customerRef, productRef: payments.productRef, planRef: book, currency }
    const intentOf = (key: string) => payments.createIntent(`${key}-${customerRef}`, wanted)
    // Payments for one plan may be created at the same time.
    const answers = await Promise.all([intentOf('one'), intentOf('two')])
    answers.push(await intentOf('three'))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400])
    const [sold] = answers.filter(({ status }) => status === 201)
    expect(sold!.body).toMatchObject({
      ...{ status: 'succeeded', originalAmount: 0, currency: currency.toLowerCase() },
    })
    expect(answers.filter(({ status }) => status === 400).map(({ body }) => body)).toMatchObject([
      { message: 'The customer has the plan already' },
      { message: 'The customer has the plan already' },
    ])
    expect((await intentOf(sold === answers[0] ? 'one' : 'two')).body).toEqual(sold!.body)
    const { reference: purchaseRef } = await held(customerRef)
    expect(await stack.purchasesOf(customerRef)).toHaveLength(1)
    expect(await newestLines(purchaseRef)).toEqual([
      ['one_time', price],
      ['discount', -price],
    ])
  }
})

test('a sale for nothing does not lock the balance, which bills lock after the purchase', async () => {
  const customerRef = await createFreeloader()
  await stack.sql`
    insert into carried_amounts (provider_id, customer_ref, currency, amount, updated_at)
    values (${payments.tenant.providerId}, ${customerRef}, 'USD', -500, now())`
  const sold = await stack.sql.begin(async (bill) => {
    await bill`select from carried_amounts where customer_ref = ${customerRef} for update`
    return request({ customerRef, planRef: book })
  })
  expect([sold.status, sold.body]).toMatchObject([201, { status: 'succeeded' }])
})

/** Returns a customer whose discount leaves nothing of any price. */
async function createFreeloader(): Promise<string> {
  const forever = { duration: 'forever', durationInvoices: undefined, percentOff: 100 }
  const { reference: couponRef } = await createCoupon(forever)
  const customerRef = await payments.createCustomer()
  await payments.call('POST', `/v1/ui/customers/${customerRef}/discounts`, { couponRef })
  return customerRef
}

test('of two payments for the last redemption one is refused, and the other is free again if it is not paid', async () => {
  const { code = '' } = await createCoupon({ maxRedemptions: 1 })
  const [one, other] = [await payments.createCustomer(), await payments.createCustomer()]
  const answers = await Promise.all([
    request({ customerRef: one, code }),
    request({ customerRef: other, code }),
  ])
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 400])
  const loser = answers[0].status === 201 ? other : one
  expect((await request({ customerRef: loser, code })).status).toBe(400)
  await stack.sql`update payment_intents set status = 'canceled', next_look_at = null
    where customer_ref <> ${loser} and status = 'requires_payment_method'`
  await buy({ customerRef: loser, code })
  expect(await discountsOf(loser)).toHaveLength(1)
})

test('refunds a payment whose coupon was redeemed by another payment of the customer', async () => {
  const { code = '' } = await createCoupon({ maxRedemptionsPerCustomer: 1 })
  const customerRef = await payments.createCustomer()
  const first = (await request({ customerRef, code })).body
  const second = (await request({ customerRef, planRef: big, code })).body
  await buy({ customerRef, code })
  for (const { processorPaymentId } of [first, second]) {
    await payments.confirm(processorPaymentId).catch(() => undefined)
    await payments.process(processorPaymentId, customerRef)
  }
  await eventually(async () => {
    const rows = await stack.sql<{ status: string; refund_wanted: boolean }[]>`
      select status, refund_wanted from payment_intents where customer_ref = ${customerRef}`
    expect(rows.filter(({ refund_wanted: isWanted }) => isWanted)).toEqual([])
  })
  expect(await discountsOf(customerRef)).toHaveLength(1)
  expect((await request({ customerRef, code })).status).toBe(400)
})

test('a refund of a discounted invoice gives back what was paid', async () => {
  const { code = '' } = await createCoupon({})
  const customerRef = await payments.createCustomer()
  await buy({ customerRef, code })
  const { reference } = await held(customerRef)
  const [invoice] = await allInvoicesOf(reference)
  const path = `/v1/ui/invoices/${invoice!.reference}`
  const whole = {
    reason: 'Wrong',
    lines: [
      { line: 0, amount: 2_000 },
      { line: 1, amount: 1_000 },
    ],
  }
  expect((await payments.call('POST', `${path}/credit-notes`, whole)).status).toBe(409)
  const refund = { reason: 'Wrong', to: 'balance' }
  const refunded = await payments.call<{ refundedAmount?: number }>(
    'POST',
    `${path}/refunds`,
    refund,
  )
  expect(refunded.status).toBe(200)
  const balance = await payments.call<{ balances?: unknown }>(
    'GET',
    `/v1/ui/customers/${customerRef}/invoice-balance`,
  )
  expect(JSON.stringify(balance.body)).toContain('2250')
})

test('discounts given by the provider begin with the next invoice and end with their removal', async () => {
  const coupon = await createCoupon({ duration: 'forever', durationInvoices: undefined })
  const customerRef = await payments.createCustomer()
  await buy({ customerRef })
  const { reference } = await held(customerRef)
  const path = `/v1/ui/customers/${customerRef}/discounts`
  const given = await payments.call<DiscountBody>('POST', path, { couponRef: coupon.reference })
  expect(given.status).toBe(201)
  expect((await payments.call('POST', path, { code: coupon.code })).status).toBe(409)
  await stack.runJob('renewals', '2026-07-01T10:00:00Z')
  expect(await newestLines(reference)).toEqual([
    ['recurring', 2_000],
    ['discount', -500],
  ])
  const removed = await payments.call('DELETE', `${path}/${given.body.reference}`)
  expect(removed.status).toBe(200)
  await stack.runJob('renewals', '2026-08-01T10:00:00Z')
  expect(await newestLines(reference)).toEqual([['recurring', 2_000]])
  const archived = await payments.call<CouponBody>(
    'POST',
    `/v1/ui/coupons/${coupon.reference}/archive`,
  )
  expect(archived.body.archivedAt).toBeDefined()
  const again = { couponRef: coupon.reference }
  expect((await payments.call('POST', path, again)).body).toMatchObject({
    code: 'coupon_not_redeemable',
  })
})
