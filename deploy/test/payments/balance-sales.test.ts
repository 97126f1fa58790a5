import type { ActivateResponse } from '@tollgate/schemas/http/activate'
import type { CustomerBalanceBody } from '@tollgate/schemas/http/customer-balances'
import type { InvoiceBody } from '@tollgate/schemas/http/invoices'
import type {
  PaymentIntentBody,
  ProcessedPaymentBody,
} from '@tollgate/schemas/http/payment-intents'
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { listUnbalancedInvoices } from '@tollgate/domain/money-ledger/unbalanced'
import { eventually, PaymentStack } from './payment-stack.ts'

/* The credit of a customer's balance pays first sales and changes of plan, and is held while a payment is open. */

vi.setConfig({ testTimeout: 60_000 })

const payments = await PaymentStack.start()
const { productRef } = payments
const planRef = await payments.createPlan({ price: 1900, billingCycle: 'monthly' })
const largerRef = await payments.createPlan({ price: 4900, billingCycle: 'monthly' })
const foreverRef = await payments.createPlan({ type: 'one-time', price: 1900 })
const onceRef = await payments.createPlan({ type: 'one-time', price: 1000 })
afterAll(() => payments.stop())

let customerRef: string
let sequence = 0

beforeEach(async () => {
  customerRef = await payments.createCustomer()
})

function createPayment(plan = planRef): Promise<{ status: number; body: PaymentIntentBody }> {
  sequence += 1
  const of = { customerRef, productRef, planRef: plan, purpose: 'product', currency: 'USD' }
  return payments.createIntent(`balance-${sequence}`, of)
}

async function pay({ processorPaymentId }: PaymentIntentBody): Promise<void> {
  await payments.confirm(processorPaymentId)
  await eventually(async () => {
    const { body } = await payments.process<ProcessedPaymentBody>(processorPaymentId, customerRef)
    expect(body.status).toBe('succeeded')
  })
}

/** Gives the customer a credit: a plan of another product is bought by card and credited to the balance. */
async function giveCredit(amount: number): Promise<void> {
  sequence += 1
  const product = { name: `Other ${sequence}` }
  const { body: other } = await payments.call<{ reference: string }>(
    'POST',
    '/v1/sdk/products',
    product,
  )
  const path = `/v1/sdk/products/${other.reference}/plans`
  const { body: plan } = await payments.call<{ reference: string }>('POST', path, {
    ...{ name: 'Once', type: 'one-time', price: 10_000 },
  })
  const bought = await payments.createIntent(`given-${sequence}`, {
    ...{ customerRef, productRef: other.reference, planRef: plan.reference, purpose: 'product' },
  })
  await pay(bought.body)
  const invoiceRef = await invoiceOf(bought.body)
  const note = { reason: 'An outage', amount }
  const credited = await payments.call('POST', `/v1/ui/invoices/${invoiceRef}/credit-notes`, note)
  expect(credited.status).toBe(200)
}

async function invoiceOf({ transactionId }: PaymentIntentBody): Promise<string> {
  const [row] = await payments.sql<{ invoice_ref: string }[]>`
    select invoice_ref from payment_intents where reference = ${transactionId!}`
  return row!.invoice_ref
}

const invoice = async (reference: string) =>
  (await payments.call<InvoiceBody>('GET', `/v1/ui/invoices/${reference}`)).body

async function balance(): Promise<{ amount: number; held: number }> {
  const path = `/v1/ui/customers/${customerRef}/invoice-balance`
  const { body } = await payments.call<CustomerBalanceBody>('GET', path)
  const { amount, held } = body.balances[0] ?? { amount: 0, held: 0 }
  // The balance is the sum of its entries, whatever is held of it.
  expect(body.entries.reduce((sum, entry) => sum + entry.amount, 0)).toBe(amount)
  return { amount, held }
}

const purchase = async () =>
  (await payments.purchasesOf(customerRef)).find((each) => each.productRef === productRef)

async function expectBalancedLedger(): Promise<void> {
  expect(await listUnbalancedInvoices(payments.sql, 10)).toEqual([])
}

test('a credit pays a part of the first payment, and is held until the payment succeeds', async () => {
  await giveCredit(500)
  const { status, body } = await createPayment()
  expect(status).toBe(201)
  expect(body).toMatchObject({ originalAmount: 1400, fromBalance: 500 })
  expect(await balance()).toEqual({ amount: 500, held: 500 })
  await pay(body)
  expect(await balance()).toEqual({ amount: 0, held: 0 })
  const sold = await invoice(await invoiceOf(body))
  expect(sold).toMatchObject({ status: 'paid', total: 1400, paid: 1400 })
  expect(sold.lines.map(({ kind, amount }) => [kind, amount])).toEqual([
    ['recurring', 1900],
    ['carried_in', -500],
  ])
  expect(await purchase()).toMatchObject({ status: 'active', originalAmount: 1900 })
  await expectBalancedLedger()
})

test('a payment that never succeeds gives the credit back', async () => {
  await giveCredit(500)
  const { body } = await createPayment()
  await payments.stripe('POST', `payment_intents/${body.processorPaymentId}/cancel`)
  await eventually(async () => {
    await payments.process(body.processorPaymentId, customerRef)
    expect(await balance()).toEqual({ amount: 500, held: 0 })
  })
})

test('a payment that the processor refuses to create gives the credit back', async () => {
  await giveCredit(500)
  await payments.sql`
    update processor_customers set processor_customer_id = ${`cus_gone_${sequence}`}
    where customer_ref = ${customerRef}`
  expect((await createPayment()).status).toBe(400)
  expect(await balance()).toEqual({ amount: 500, held: 0 })
})

test.each(['error_after', 'reset_after', 'error_before'])(
  '%s: a payment with an unknown outcome holds the credit, and a repeated request uses it once',
  async (kind) => {
    await giveCredit(500)
    const times = kind.startsWith('reset') ? 2 : 1
    const fault = { kind, method: 'POST', path: '/v1/payment_intents', times }
    await payments.simulate('faults', fault)
    await createPayment()
    expect(await balance()).toEqual({ amount: 500, held: 500 })
    // The processor repeats an error for its key, until the job searches the payment and creates it under another key.
    const repeated = sequence - 1
    await eventually(async () => {
      sequence = repeated
      const { status, body } = await createPayment()
      expect(status).toBe(201)
      expect(body).toMatchObject({ originalAmount: 1400, fromBalance: 500 })
      await pay(body)
    })
    expect(await balance()).toEqual({ amount: 0, held: 0 })
  },
)

test('a credit that pays everything needs no payment', async () => {
  await giveCredit(2500)
  const { status, body } = await createPayment()
  expect(status).toBe(201)
  expect(body).toMatchObject({ status: 'succeeded', originalAmount: 0, fromBalance: 1900 })
  expect(body.clientSecret).toBeUndefined()
  const processed = await payments.process<ProcessedPaymentBody>(
    body.processorPaymentId,
    customerRef,
  )
  expect(processed.body.status).toBe('succeeded')
  expect(await balance()).toEqual({ amount: 600, held: 0 })
  expect(await purchase()).toMatchObject({ status: 'active' })
  expect(await invoice(await invoiceOf(body))).toMatchObject({ status: 'paid', total: 0, paid: 0 })
  await expectBalancedLedger()
})

test('activation uses a credit that pays everything, and otherwise asks for the payment', async () => {
  const activate = async (plan: string) => {
    const of = { customerRef, productRef, planRef: plan }
    return (await payments.call<ActivateResponse>('POST', '/v1/sdk/activate', of)).body
  }
  await giveCredit(2500)
  expect(await activate(largerRef)).toMatchObject({ status: 'payment_required' })
  expect(await balance()).toEqual({ amount: 2500, held: 0 })
  const activated = await activate(planRef)
  expect(activated).toMatchObject({
    status: 'activated',
    message: '$19.00 was paid from the balance of the customer.',
  })
  expect((await activate(planRef)).status).toBe('already_active')
  expect(await balance()).toEqual({ amount: 600, held: 0 })
  // The change of plan charges the difference, of which the credit pays a part.
  const { body } = await createPayment(largerRef)
  expect(body.fromBalance).toBe(600)
  await pay(body)
  expect((await payments.purchasesOf(customerRef))[0]?.planSnapshot?.reference).toBe(largerRef)
  expect(await balance()).toEqual({ amount: 0, held: 0 })
  await expectBalancedLedger()
})

test('activation sells a pack from the balance only once for an idempotency key', async () => {
  const own = await payments.call<{ reference: string }>('POST', '/v1/sdk/products', { name: 'P' })
  const add = async (fields: object): Promise<string> => {
    const path = `/v1/sdk/products/${own.body.reference}/plans`
    return (await payments.call<{ reference: string }>('POST', path, fields)).body.reference
  }
  const running = await add({ name: 'Monthly', price: 1900, billingCycle: 'monthly', limit: 100 })
  const pack = { type: 'one-time', price: 500, pack: { units: 50 } }
  const packRef = await add({ name: 'Pack', ...pack })
  const activate = async (plan: string, key?: string) => {
    const body = JSON.stringify({ customerRef, productRef: own.body.reference, planRef: plan })
    const headers = key === undefined ? undefined : { 'idempotency-key': key }
    const { sandboxKey } = payments.tenant
    const of = { body, ...(headers && { headers }) }
    return (
      await payments.stack.callRaw<ActivateResponse>(sandboxKey, 'POST', '/v1/sdk/activate', of)
    ).body
  }
  await giveCredit(5000)
  expect((await activate(running)).status).toBe('activated')
  expect(await balance()).toEqual({ amount: 3100, held: 0 })
  expect((await activate(packRef)).status).toBe('payment_required')
  for (let round = 0; round < 2; round += 1) {
    expect((await activate(packRef, `pack-${customerRef}`)).status).toBe('activated')
    expect(await balance()).toEqual({ amount: 2600, held: 0 })
  }
})

test('payments that are created at the same time never use one credit twice', async () => {
  await giveCredit(1000)
  const created = await Promise.all([createPayment(), createPayment(largerRef), createPayment()])
  const used = created.map(({ body }) => body.fromBalance ?? 0)
  expect(used.reduce((sum, each) => sum + each, 0)).toBe(1000)
  expect(await balance()).toEqual({ amount: 1000, held: 1000 })
  const at = used.findIndex((each) => each > 0)
  // Another payment for the product succeeds, so the one that holds the credit is withdrawn.
  await pay(created[(at + 1) % created.length]!.body)
  await eventually(async () => expect(await balance()).toEqual({ amount: 1000, held: 0 }))
  await expectBalancedLedger()
})

test('what two payments of one plan have taken twice is returned to card and balance', async () => {
  await giveCredit(1000)
  const first = (await createPayment()).body
  const second = (await createPayment()).body
  expect([first.fromBalance, second.fromBalance]).toEqual([1000, undefined])
  await Promise.all([
    payments.confirm(first.processorPaymentId),
    payments.confirm(second.processorPaymentId),
  ])
  await payments.process(second.processorPaymentId, customerRef)
  await payments.process(first.processorPaymentId, customerRef)
  await eventually(async () => {
    const { body } = await payments.stripe('GET', 'refunds', {
      payment_intent: first.processorPaymentId,
    })
    expect(body.data).toMatchObject([{ amount: 900 }])
  })
  expect(await balance()).toEqual({ amount: 1000, held: 0 })
  await expectBalancedLedger()
})

test('a rest below the minimum of the processor is charged as the minimum', async () => {
  await giveCredit(1880)
  const { body } = await createPayment()
  expect(body).toMatchObject({ originalAmount: 50, fromBalance: 1850 })
  await pay(body)
  expect(await balance()).toEqual({ amount: 30, held: 0 })
})

test('credits for the wallet are not bought with the balance', async () => {
  await giveCredit(5000)
  sequence += 1
  const topUp = { customerRef, purpose: 'credit_topup', amount: 1000, currency: 'USD' }
  const { body } = await payments.createIntent(`top-up-${sequence}`, topUp)
  expect(body.originalAmount).toBe(1000)
  expect(body.fromBalance).toBeUndefined()
})

const refund = (reference: string, to: 'card' | 'balance') =>
  payments.call<InvoiceBody>('POST', `/v1/ui/invoices/${reference}/refunds`, {
    reason: 'The customer changed its mind',
    to,
  })

test.each([
  ['a period', planRef, 500],
  ['a purchase for all time', foreverRef, 500],
  ['a period that the balance paid mostly', planRef, 1800],
])('a refund of %s ends it once both have back what they paid', async (_name, plan, credit) => {
  const byCard = 1900 - credit
  await giveCredit(credit)
  const { body } = await createPayment(plan)
  await pay(body)
  const reference = await invoiceOf(body)
  const { body: toCard } = await refund(reference, 'card')
  expect(toCard).toMatchObject({ status: 'refunded', refunded: byCard })
  expect((await purchase())?.status).toBe('active')
  expect((await refund(reference, 'card')).status).toBe(409)
  expect(await balance()).toEqual({ amount: 0, held: 0 })
  // The purchase ends once the provider has also returned what the balance had paid, which is possible only once.
  const { status, body: toBalance } = await refund(reference, 'balance')
  expect([status, toBalance.status]).toEqual([200, 'refunded'])
  expect(toBalance.creditNotes).toMatchObject([{ total: byCard }, { total: credit }])
  expect((await purchase())?.status).toBe('refunded')
  expect(await balance()).toEqual({ amount: credit, held: 0 })
  expect((await refund(reference, 'balance')).status).toBe(409)
  await expectBalancedLedger()
})

test('a refund to the balance also returns what the balance had paid', async () => {
  await giveCredit(500)
  const { body } = await createPayment()
  await pay(body)
  const { body: returned } = await refund(await invoiceOf(body), 'balance')
  expect(returned.creditNotes).toMatchObject([{ total: 1900 }])
  expect(await balance()).toEqual({ amount: 1900, held: 0 })
  expect((await purchase())?.status).toBe('refunded')
  await expectBalancedLedger()
})

test.each([
  ['a period', planRef],
  ['a purchase for all time', onceRef],
])('the refund of %s that the balance paid alone ends it', async (_name, plan) => {
  await giveCredit(2500)
  const { body } = await createPayment(plan)
  const reference = await invoiceOf(body)
  expect((await refund(reference, 'card')).status).toBe(409)
  expect((await refund(reference, 'balance')).status).toBe(200)
  expect(await balance()).toEqual({ amount: 2500, held: 0 })
  expect((await purchase())?.status).toBe('refunded')
  await expectBalancedLedger()
})
