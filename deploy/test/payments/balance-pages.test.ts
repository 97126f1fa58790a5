import type { PlanBody } from '@tollgate/schemas/http/plans'
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { HostedPages } from './hosted-pages.ts'
import { PaymentStack } from './payment-stack.ts'

/* The credit of a customer on the pages of checkout and portal, and in previews. */

vi.setConfig({ testTimeout: 60_000 })

const payments = await PaymentStack.start()
const { productRef } = payments
const planRef = await payments.createPlan({ price: 1900, billingCycle: 'monthly', name: 'Small' })
const largerRef = await payments.createPlan({ price: 4900, billingCycle: 'monthly', name: 'Large' })
afterAll(() => payments.stop())

let customerRef: string

beforeEach(async () => {
  customerRef = await payments.createCustomer()
})

/** Gives the customer a credit as a posted balance would. */
async function giveCredit(amount: number): Promise<void> {
  await payments.sql`
    insert into carried_amounts (provider_id, customer_ref, currency, amount, updated_at)
    values (${payments.tenant.providerId}, ${customerRef}, 'USD', ${-amount}, now())`
}

async function held(): Promise<[amount: number, held: number]> {
  const [row] = await payments.sql<{ amount: string; held: string }[]>`
    select amount, held from carried_amounts where customer_ref = ${customerRef}`
  return [-Number(row!.amount), Number(row!.held)]
}

const pages = new HostedPages(payments)

/** Opens a checkout for all plans of the product. Returns a function that reads its pages and sends its forms. */
async function openCheckout() {
  const opened = await pages.openCheckout({ customerRef, productRef })
  return (path: string, form?: Record<string, string>) => pages.visit(opened, path, form)
}

const intents = () => payments.sql<
  { reference: string; status: string; plan_ref: string; balance_part: bigint }[]
>`
  select reference, status, plan_ref, balance_part from payment_intents
  where customer_ref = ${customerRef} order by created_at`

test('the checkout shows what the credit pays, and charges the rest', async () => {
  await giveCredit(500)
  const page = await openCheckout()
  const review = await page(`?plan=${planRef}`)
  expect(review.text).toContain('Your credit')
  expect(review.text).toContain('$14.00')
  const begun = await page('/pay', { plan: planRef, currency: 'USD' })
  expect(begun.status).toBe(303)
  const payment = await page(begun.location)
  expect(payment.text).toContain('Pay $14.00')
  expect(payment.text).toContain('Your credit')
  expect(await held()).toEqual([500, 500])
})

test('a credit that pays everything completes the checkout without a card', async () => {
  await giveCredit(2000)
  const page = await openCheckout()
  expect((await page(`?plan=${planRef}`)).text).toContain('Pay with your credit')
  const begun = await page('/pay', { plan: planRef, currency: 'USD' })
  const done = await page((await page(begun.location)).location)
  expect(done.text).toContain('Small')
  expect(await held()).toEqual([100, 0])
  expect(await intents()).toMatchObject([{ status: 'succeeded', balance_part: 1900n }])
})

test('another choice on the checkout gets the credit that the first one held, and so does the first one again', async () => {
  await giveCredit(500)
  const page = await openCheckout()
  for (const plan of [planRef, largerRef, planRef]) {
    const begun = await page('/pay', { plan, currency: 'USD' })
    expect((await page(begun.location)).text).toContain('Your credit')
    expect(await held()).toEqual([500, 500])
  }
  expect(await intents()).toMatchObject([
    { status: 'canceled', plan_ref: planRef },
    { status: 'canceled', plan_ref: largerRef },
    { status: 'requires_payment_method', plan_ref: planRef, balance_part: 500n },
  ])
})

test('the tax that the customer states on the checkout is paid by the credit too', async () => {
  const merchant = { country: 'SE', vatNumber: 'SE556012579001' }
  expect((await payments.call('PATCH', '/v1/ui/merchant', merchant)).status).toBe(200)
  await giveCredit(5000)
  const page = await openCheckout()
  const form = { plan: planRef, currency: 'USD', country: 'SE' }
  const review = await page('/pay', { ...form, step: 'total' })
  expect(review.status).toBe(303)
  const begun = await page('/pay', form)
  await page((await page(begun.location)).location)
  // 19.00 with 25 % of tax.
  expect(await held()).toEqual([5000 - 2375, 0])
  // A tax that is stated later changes only the rest.
  customerRef = await payments.createCustomer()
  await giveCredit(500)
  const of = { customerRef, productRef, planRef, purpose: 'product', currency: 'USD' }
  const { body: intent } = await payments.createIntent(`later-${customerRef}`, of)
  expect(intent).toMatchObject({ originalAmount: 1400, fromBalance: 500 })
  const details = { isBusiness: false, customerCountry: 'SE' }
  const path = `/v1/sdk/payment-intents/${intent.processorPaymentId}/business-details`
  const taxed = await payments.call('POST', path, details)
  expect(taxed.body).toMatchObject({ taxBreakdown: { total: 2375 } })
  const changed = await payments.call('GET', `/v1/sdk/payment-intents/${intent.processorPaymentId}`)
  expect(changed.body).toMatchObject({ originalAmount: 1875, fromBalance: 500 })
  const none = { isBusiness: false, customerCountry: 'US' }
  await payments.call('POST', path, none)
  expect(await held()).toEqual([500, 500])
  await payments.call('PATCH', '/v1/ui/merchant', { country: null, vatNumber: null })
})

test('keeps the tax details that the customer states on a checkout of which discounts leave nothing', async () => {
  const merchant = { country: 'SE', vatNumber: 'SE556012579001' }
  expect((await payments.call('PATCH', '/v1/ui/merchant', merchant)).status).toBe(200)
  const options = [
    { currency: 'USD', price: 900, default: true },
    { currency: 'EUR', price: 800 },
  ]
  const plan = await payments.createPlan({
    ...{ type: 'one-time', price: 900, name: 'Book', pricingOptions: options },
  })
  const terms = { name: 'Partner', percentOff: 100, duration: 'once' }
  const coupon = await payments.call<{ reference: string }>('POST', '/v1/ui/coupons', terms)
  const couponRef = coupon.body.reference
  await payments.call('POST', `/v1/ui/customers/${customerRef}/discounts`, { couponRef })
  const page = await openCheckout()
  const review = await page(`?plan=${plan}&currency=EUR`)
  expect(review.text).toContain('Start now')
  const begun = await page('/pay', { plan, currency: 'EUR', country: 'SE' })
  expect((await page((await page(begun.location)).location)).text).toContain('Book')
  expect(await intents()).toMatchObject([{ status: 'succeeded', plan_ref: plan }])
  expect(
    await payments.sql`
      select country from customer_tax_details where customer_ref = ${customerRef}`,
  ).toEqual([{ country: 'SE' }])
  await payments.call('PATCH', '/v1/ui/merchant', { country: null, vatNumber: null })
})

test('a credit leaves the minimum to charge while the country is unknown, and a tax is added to it', async () => {
  const merchant = { country: 'SE', vatNumber: 'SE556012579001' }
  await payments.call('PATCH', '/v1/ui/merchant', merchant)
  await giveCredit(2200)
  const swede = { isBusiness: false, customerCountry: 'SE' }
  const of = { customerRef, productRef, planRef, purpose: 'product', currency: 'USD' }
  // A part is left to charge, so that the customer can state a country.
  const { body: intent } = await payments.createIntent(`less-${customerRef}`, of)
  expect(intent).toMatchObject({ originalAmount: 50, fromBalance: 1850 })
  const { processorPaymentId } = intent
  const path = `/v1/sdk/payment-intents/${processorPaymentId}`
  for (const [details, originalAmount] of [
    [swede, 525],
    [{ isBusiness: false, customerCountry: 'US' }, 50],
  ] as const) {
    await payments.call('POST', `${path}/business-details`, details)
    const { body } = await payments.call('GET', path)
    expect(body).toMatchObject({ originalAmount, fromBalance: 1850 })
  }
  expect(await held()).toEqual([2200, 1850])
  await payments.call('PATCH', '/v1/ui/merchant', { country: null, vatNumber: null })
})

/** Opens the portal of the customer. Returns a function that reads its pages. */
async function openPortal() {
  const opened = await pages.openPortal(customerRef)
  return (path: string) => pages.visit(opened, path)
}

test('the payment page of a held invoice says why it takes no payment, and leads to others', async () => {
  const issue = async (...amounts: number[]): Promise<string> => {
    const lines = amounts.map((amount) => ({ description: 'Work', amount }))
    const wanted = { customerRef, currency: 'USD', lines, reason: 'Order' }
    const { body } = await payments.call<{ reference: string }>('POST', '/v1/ui/invoices', wanted)
    return body.reference
  }
  const held = await issue(1500)
  await payments.call('POST', `/v1/ui/invoices/${held}/hold`, { reason: 'A question' })
  const tooLarge = await issue(60_000_000, 60_000_000)
  const unpaid = await issue(700)
  await payments.sql`update invoices set failed_charges = 1 where reference = ${unpaid}`
  const page = await openPortal()
  expect((await page('/invoices')).text).toContain('On hold')
  const shown = await page(`/invoices/${held}/pay`)
  expect(shown.text).toContain('This invoice is on hold')
  expect(shown.text).toContain('$15.00')
  expect(shown.text).toContain(`/invoices/${unpaid}/pay`)
  expect(shown.text).not.toContain('too large to be paid by card here')
  const large = await page(`/invoices/${tooLarge}/pay`)
  expect(large.text).toContain('too large to be paid by card here')
  expect((await page(`/invoices/${unpaid}/pay`)).text).toContain('Pay $7.00')
  await payments.call('POST', `/v1/ui/invoices/${held}/void`, { reason: 'A mistake' })
  expect((await page(`/invoices/${held}/pay`)).location).toMatch(/\/invoices$/)
})

test('the portal shows the credit, and what is kept for an open payment', async () => {
  await giveCredit(5000)
  const of = { customerRef, productRef, planRef: largerRef, purpose: 'product', currency: 'USD' }
  await payments.sql`
    update carried_amounts set amount = -2000 where customer_ref = ${customerRef}`
  await payments.createIntent(`held-${customerRef}`, of)
  await payments.sql`
    update carried_amounts set amount = -2500 where customer_ref = ${customerRef}`
  const { text } = await (await openPortal())('/invoices')
  expect(text).toContain('Your credit of $5.00 pays the next invoice.')
  expect(text).toContain('$20.00 of your credit is kept for a payment that is open.')
})

test('the preview of a change says what the credit pays', async () => {
  const price = { price: 1000, billingCycle: 'monthly' }
  const { body: plan } = await payments.call<PlanBody>(
    'POST',
    `/v1/sdk/products/${productRef}/plans`,
    { name: 'First', ...price },
  )
  await giveCredit(1200)
  const activated = await payments.call<{ purchaseRef: string }>('POST', '/v1/sdk/activate', {
    ...{ customerRef, productRef, planRef: plan.reference },
  })
  expect(activated.body).toMatchObject({ status: 'activated' })
  const path = `/v1/sdk/purchases/${activated.body.purchaseRef}/change-preview`
  type Preview = {
    status: string
    needs: string
    invoices: { carriedIn: number; total: number; due: number }[]
  }
  const { body } = await payments.call<Preview>('POST', path, { planRef: largerRef })
  expect(body).toMatchObject({ status: 'payment_required', needs: 'payment' })
  const [first] = body.invoices
  expect(first).toMatchObject({ carriedIn: -200, due: first!.total })
  await payments.sql`
    update carried_amounts set amount = -9000 where customer_ref = ${customerRef}`
  const covered = await payments.call<Preview>('POST', path, { planRef: largerRef })
  expect(covered.body).toMatchObject({ status: 'activated', needs: 'nothing' })
  expect(covered.body.invoices[0]).toMatchObject({ total: 0, due: 0 })
})
