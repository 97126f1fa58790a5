import type { InvoiceBody } from '@tollgate/schemas/http/invoices'
import type { ProcessedPaymentBody } from '@tollgate/schemas/http/payment-intents'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { eventually, PaymentStack } from './payment-stack.ts'

/* Refunds that are requested through the API, with a processor that sends webhooks and answers with faults. */

const payments = await PaymentStack.start({
  hasWebhooks: true,
  settings: { TOLLGATE_STRIPE_TIMEOUT_MS: '2000' },
})
const planRef = await payments.createPlan({ price: 1900, billingCycle: 'monthly' })
afterAll(() => payments.stop())

let customerRef: string
let paymentId: string
let invoiceRef: string
let sequence = 0

beforeEach(async () => {
  sequence += 1
  customerRef = await payments.createCustomer()
  const plan = { purpose: 'product', productRef: payments.productRef, planRef, currency: 'USD' }
  await pay(plan)
})

async function pay(request: object): Promise<void> {
  sequence += 1
  const { body } = await payments.createIntent(`pay-${sequence}`, { customerRef, ...request })
  paymentId = body.processorPaymentId
  await payments.confirm(paymentId)
  await eventually(async () => {
    const processed = await payments.process<ProcessedPaymentBody>(paymentId, customerRef)
    expect(processed.body.status).toBe('succeeded')
  })
  const [row] = await payments.sql<{ invoice_ref: string }[]>`
    select invoice_ref from payment_intents where processor_payment_id = ${paymentId}`
  invoiceRef = row!.invoice_ref
}

const path = () => `/v1/ui/invoices/${invoiceRef}`
const invoice = async () => (await payments.call<InvoiceBody>('GET', path())).body

function refund(body: object, key = `refund-${sequence}`) {
  return payments.stack.callRaw<InvoiceBody & { readonly code?: string }>(
    payments.tenant.sandboxKey,
    'POST',
    `${path()}/refunds`,
    { headers: { 'idempotency-key': key }, body: JSON.stringify({ reason: 'decided', ...body }) },
  )
}

async function refundsThere(): Promise<number[]> {
  const { body } = await payments.stripe('GET', 'refunds', { payment_intent: paymentId })
  return (body.data as unknown as { amount: number }[]).map(({ amount }) => amount)
}

const statusOfPurchase = async () => (await payments.purchasesOf(customerRef))[0]!.status

test('a part is refunded once, also if the request is repeated and a webhook reports it later', async () => {
  for (let round = 0; round < 3; round += 1) {
    const { status, body } = await refund({ to: 'card', amount: 500 })
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'partly_refunded', refunded: 500 })
    expect(body.refunds).toMatchObject([{ to: 'card', amount: 500, status: 'succeeded' }])
  }
  expect(await refundsThere()).toEqual([500])
  await eventually(async () => {
    const [told] = await payments.sql<[{ waiting: number; settled: number }]>`
      select (count(*) filter (where settled_at is null))::int as waiting,
        (count(*) filter (where settled_at is not null))::int as settled
      from processor_events where object_kind = 'refund'`
    expect(told.waiting).toBe(0)
    expect(told.settled).toBeGreaterThan(0)
  })
  expect(await invoice()).toMatchObject({ refunded: 500, creditNotes: [{ total: 500 }] })
  expect(await statusOfPurchase()).toBe('active')
})

test('a full refund in two parts, to the card and to the balance, ends the purchase', async () => {
  await refund({ to: 'card', amount: 900 })
  const { body } = await refund({ to: 'balance' }, `rest-${sequence}`)
  expect(body).toMatchObject({ status: 'refunded', refunded: 1900 })
  expect(body.refunds.map(({ to, amount }) => [to, amount])).toEqual([
    ['card', 900],
    ['balance', 1000],
  ])
  expect(await statusOfPurchase()).toBe('refunded')
})

test('unused credits are taken back, to whichever place the money goes', async () => {
  await pay({ purpose: 'credit_topup', amount: 1000, currency: 'USD' })
  const before = await payments.balanceOf(customerRef)
  await refund({ to: 'balance', amount: 400 })
  await refund({ to: 'card' }, `rest-${sequence}`)
  await eventually(async () => expect(await payments.balanceOf(customerRef)).toBe(before - 100_000))
})

test('what was refunded to the balance is taken from there if the payment is refunded at the processor too', async () => {
  await refund({ to: 'balance', amount: 500 })
  await payments.stripe('POST', 'refunds', { payment_intent: paymentId })
  await eventually(async () => {
    expect(await invoice()).toMatchObject({ status: 'refunded', refunded: 1900 })
    const [carried] = await payments.sql<{ amount: string }[]>`
      select amount from carried_amounts where customer_ref = ${customerRef}`
    expect(carried).toEqual({ amount: '0' })
  })
})

test.each(['error_after', 'reset_after', 'hang_after', 'error_before', 'rate_limit'])(
  '%s: a refund with an unknown outcome is pending, and is continued by the job',
  async (kind) => {
    const times = kind.startsWith('reset') ? 2 : 1
    await payments.simulate('faults', { kind, method: 'POST', path: '/v1/refunds', times })
    const { status, body } = await refund({ to: 'card', amount: 700 })
    expect(status).toBe(200)
    expect(['pending', 'succeeded']).toContain(body.refunds[0]!.status)
    await eventually(async () => {
      // The job would wait a minute longer after each unknown outcome.
      await payments.sql`
        update requested_refunds set due_at = '2000-01-01' where status = 'open'`
      expect(await invoice()).toMatchObject({ refunded: 700 })
    })
    expect(await refundsThere()).toEqual([700])
  },
)

test('a refund that the processor refuses leaves the invoice as it was', async () => {
  // The webhook of the refund at the processor may arrive before or after the request.
  const there = payments.stripe('POST', 'refunds', { payment_intent: paymentId })
  const [asked] = await Promise.all([refund({ to: 'card', amount: 1900 }), there])
  expect([200, 409]).toContain(asked.status)
  await eventually(async () => {
    expect(await invoice()).toMatchObject({ status: 'refunded', refunded: 1900 })
    expect(await refundsThere()).toEqual([1900])
  })
})
