import { afterAll, beforeEach, expect, test } from 'vitest'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { InvoiceBody, InvoiceCharged } from '@tollgate/schemas/http/invoices'
import { listUnbalancedInvoices } from '@tollgate/domain/money-ledger/unbalanced'
import { eventually } from './payment-stack.ts'
import { RenewalStack } from './renewal-stack.ts'

/* People decide about invoices whose card was declined, while payments are in progress at the processor. */

let purchase: Purchase
let invoiceRef: string

const stack = await RenewalStack.start({ hasWebhooks: true })
const planRef = await stack.payments.createPlan({ price: 1900, billingCycle: 'monthly' })
afterAll(() => stack.stop())

beforeEach(async () => {
  stack.payments.stack.clock.set('2026-01-31T12:00:00Z')
  purchase = await stack.buy(planRef)
  await stack.replaceCard(purchase.customerRef, 'pm_card_chargeCustomerFail')
  const once = { TOLLGATE_PAYMENT_RETRY_HOURS: '1' }
  await stack.runJob('renewals', '2026-03-01T10:00:00Z', once)
  await stack.runJob('payment-retries', '2026-03-01T11:00:00Z', once)
  const [invoice] = await stack.invoicesOf(purchase.reference)
  invoiceRef = invoice!.reference
  expect(await statusOf()).toBe('suspended')
  return async () => {
    expect(await listUnbalancedInvoices(stack.sql, 10)).toEqual([])
    await stack.sql`update purchases set status = 'expired'`
    await stack.sql`update invoices set next_charge_at = null, status = 'void' where status = 'open'`
  }
})

const statusOf = async () => (await stack.purchase(purchase.reference)).status

async function decide(action: string, body: object = {}): Promise<InvoiceBody> {
  const path = `/v1/ui/invoices/${invoiceRef}/${action}`
  const answer = await stack.payments.call<InvoiceBody>('POST', path, {
    reason: 'decided',
    ...body,
  })
  expect(answer.status).toBe(200)
  return answer.body
}

const charge = async () => {
  const path = `/v1/ui/invoices/${invoiceRef}/charge`
  return (await stack.payments.call<InvoiceCharged>('POST', path)).body
}

async function runCharges(): Promise<void> {
  await stack.runJob('payment-retries', '2026-03-05T10:00:00Z')
}

test('a bank transfer begins the period, and the card is not charged any more', async () => {
  expect(await decide('outside-payments')).toMatchObject({ status: 'paid', paid: 1900 })
  expect(await statusOf()).toBe('active')
  await stack.replaceCard(purchase.customerRef, 'pm_card_visa')
  await runCharges()
  expect(await stack.succeededChargesOf(purchase.reference)).toBe(0)
})

test('a part that was paid outside leaves the rest for the card', async () => {
  await decide('outside-payments', { amount: 900 })
  expect(await statusOf()).toBe('suspended')
  await stack.replaceCard(purchase.customerRef, 'pm_card_visa')
  // The payment of the whole amount must end before one of the rest can begin.
  await eventually(async () => expect((await charge()).result).toBe('paid'))
  const [payment] = (await decide('credit-notes', { amount: 1 })).payments.filter(
    ({ card }) => card !== undefined,
  )
  expect(payment).toMatchObject({ amount: 1000 })
  expect(await statusOf()).toBe('active')
})

test('a charge that is asked for now pays with the new card, and a declined one is not counted', async () => {
  const before = (await stack.invoicesOf(purchase.reference))[0]!.failedCharges
  expect((await charge()).result).toBe('declined')
  expect((await stack.invoicesOf(purchase.reference))[0]).toMatchObject({ failedCharges: before })
  await stack.replaceCard(purchase.customerRef, 'pm_card_visa')
  const charged = await Promise.all([charge(), charge(), charge()])
  expect(charged.map(({ result }) => result)).toContain('paid')
  expect((await charge()).result).toBe('nothing_due')
  expect(await stack.succeededChargesOf(purchase.reference)).toBe(1)
  expect(await statusOf()).toBe('active')
})

test('a payment that succeeds after its invoice was credited is refunded', async () => {
  const [open] = await stack.paymentsOf(purchase.reference)
  await decide('credit-notes')
  expect(await statusOf()).toBe('active')
  // The customer confirms the payment at the processor before the cancellation arrives there.
  await stack.payments.confirm(open!, 'pm_card_visa')
  await eventually(async () => {
    const succeeded = await stack.payments.succeededCharges(open!)
    expect(await stack.refundedMinorOf(open!)).toBe(succeeded === 0 ? 0n : 1900n)
    const [intent] = await stack.sql<{ status: string; refund_wanted: boolean }[]>`
      select status, refund_wanted from payment_intents where processor_payment_id = ${open!}`
    expect(intent).toEqual({
      status: succeeded === 0 ? 'failed' : 'succeeded',
      refund_wanted: false,
    })
  })
})

test('a part that was paid outside is credited to the next invoice if the purchase ends', async () => {
  await decide('outside-payments', { amount: 900 })
  const path = `/v1/sdk/purchases/${purchase.reference}/cancel`
  expect((await stack.payments.call('POST', path, {})).status).toBe(200)
  await eventually(async () => {
    const [invoice] = await stack.invoicesOf(purchase.reference)
    expect(invoice).toMatchObject({ status: 'paid', paidMinor: 900n, carriedMinor: 1000n })
  })
  const [carried] = await stack.sql<{ amount: string }[]>`
    select amount from carried_amounts where customer_ref = ${purchase.customerRef}`
  expect(carried).toEqual({ amount: '-900' })
})

test('a payment that succeeds after its purchase ended and its invoice was credited leaves nothing open', async () => {
  const [open] = await stack.paymentsOf(purchase.reference)
  const path = `/v1/sdk/purchases/${purchase.reference}/cancel`
  // The end may void the invoice before it can be credited.
  await Promise.allSettled([
    stack.payments.call('POST', path, {}),
    decide('credit-notes', { amount: 100 }),
    stack.payments.confirm(open!, 'pm_card_visa'),
  ])
  await eventually(async () => {
    const [invoice] = await stack.invoicesOf(purchase.reference)
    expect(invoice!.status).not.toBe('open')
    const succeeded = await stack.payments.succeededCharges(open!)
    const kept = invoice!.status === 'paid' ? invoice!.paidMinor : 0n
    expect(await stack.refundedMinorOf(open!)).toBe(succeeded === 0 ? 0n : 1900n - kept)
  })
})
