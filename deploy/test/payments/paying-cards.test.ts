import { afterAll, beforeEach, expect, test } from 'vitest'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { InvoiceBody, InvoiceSummaryBody } from '@tollgate/schemas/http/invoices'
import { issueSample } from '../../../control-plane/test/printed-invoice.ts'
import { HostedPages } from './hosted-pages.ts'
import { RenewalStack } from './renewal-stack.ts'

/* The card of an off-session charge, in the API and in the portal. */

let purchase: Purchase

// There are no webhooks, so the test only sees what the billing runner stores.
const stack = await RenewalStack.start()
const planRef = await stack.payments.createPlan({ price: 1900, billingCycle: 'monthly' })
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.payments.stack.clock.set('2026-01-31T12:00:00Z')
  purchase = await stack.buy(planRef, 'pm_card_mastercard')
  return () => stack.sql`update purchases set status = 'expired'`
})

const renewalAt = '2026-03-01T10:00:00Z'
const mastercard = { brand: 'mastercard', last4: '4444', expMonth: 12, expYear: 2034 }

/** Returns the cards of the customer's invoices, oldest first. */
async function cardsOf(customerRef: string) {
  const { payments } = stack
  const path = `/v1/ui/invoices?customerRef=${customerRef}`
  const { body } = await payments.call<{ invoices: InvoiceSummaryBody[] }>('GET', path)
  const invoices = await Promise.all(
    body.invoices.map(({ reference }) =>
      payments.call<InvoiceBody>('GET', `/v1/ui/invoices/${reference}`),
    ),
  )
  return invoices.toReversed().map((invoice) => invoice.body.payments.map(({ card }) => card))
}

/** Returns the text of the customer's invoices in the portal. */
async function portalInvoices(customerRef: string): Promise<string> {
  const pages = new HostedPages(stack.payments)
  const page = await pages.visit(await pages.openPortal(customerRef), '/invoices')
  return page.text.replaceAll(/<[^>]*>/g, '')
}

test('shows the card that paid a renewal, as for the first sale', async () => {
  await stack.runJob('renewals', renewalAt)
  expect(await cardsOf(purchase.customerRef)).toEqual([[mastercard], [mastercard]])
  const page = await portalInvoices(purchase.customerRef)
  expect(page.match(/Mastercard ending in 4444 \(12\/2034\)/g)).toHaveLength(2)
})

test('shows the card that paid for usage', async () => {
  const { customerRef } = purchase
  const { payments } = stack
  await issueSample(payments.stack, payments.tenant.sandboxKey, customerRef)
  await stack.runJob('payment-retries', '2026-01-31T13:00:00Z')
  expect(await cardsOf(customerRef)).toEqual([[mastercard], [mastercard]])
})

test('shows the charged card if the customer saved another one before the outcome was known', async () => {
  const { customerRef, reference } = purchase
  const lost = { kind: 'reset_after', method: 'POST', path: '/v1/payment_intents', times: 2 }
  await stack.payments.simulate('faults', lost)
  await stack.runJob('renewals', renewalAt)
  expect(await stack.invoicesOf(reference)).toMatchObject([{ status: 'open' }])
  await stack.payWith(customerRef, 'pm_card_visa')
  await stack.runJob('payment-retries', '2026-03-01T10:20:00Z')
  expect(await stack.invoicesOf(reference)).toMatchObject([{ status: 'paid' }])
  const cards = (await cardsOf(customerRef)).flat()
  expect(cards.map((card) => card?.brand).sort()).toEqual(['mastercard', 'mastercard', 'visa'])
  const saved = await stack.payments.call(
    'GET',
    `/v1/sdk/payment-method?customerRef=${customerRef}`,
  )
  expect(saved.body).toMatchObject({ brand: 'visa' })
})
