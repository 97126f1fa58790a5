import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ChargeOutcome } from '@tollgate/domain/charging/charge-invoice'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { eventually } from './payment-stack.ts'
import { RenewalStack } from './renewal-stack.ts'

/* A purchase that ends while a renewal of it is unpaid, at the simulator of Stripe. */

let stack: RenewalStack
let planRef: string
let purchase: Purchase

beforeAll(async () => {
  stack = await RenewalStack.start({ hasWebhooks: true })
  planRef = await stack.payments.createPlan({ price: 1900, billingCycle: 'monthly' })
})
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.payments.stack.clock.set('2026-01-31T12:00:00Z')
  purchase = await stack.buy(planRef)
  return async () => {
    await stack.sql`update purchases set status = 'expired'`
    await stack.sql`update invoices set next_charge_at = null`
  }
})

const renewalAt = '2026-03-01T10:00:00Z'

/** The runner issues the invoice, and does not come to charge it. */
const unasked = async (): Promise<ChargeOutcome> => ({ kind: 'pending' })

const cancel = () =>
  stack.payments.call('POST', `/v1/sdk/purchases/${purchase.reference}/cancel`, {})

async function states() {
  const invoices = await stack.invoicesOf(purchase.reference)
  return { purchase: (await stack.purchase(purchase.reference)).status, invoices }
}

test('owes nothing for it: its payment is withdrawn, and its invoice void', async () => {
  await stack.replaceCard(purchase.customerRef, 'pm_card_chargeCustomerFail')
  await stack.runJob('renewals', renewalAt)
  await cancel()
  await eventually(async () =>
    expect(await states()).toMatchObject({
      purchase: 'cancelled',
      invoices: [{ status: 'void', paidMinor: 0n }],
    }),
  )
  await stack.payWith(purchase.customerRef, 'pm_card_visa')
  await stack.runJob('payment-retries', '2026-03-01T15:00:00Z')
  expect(await stack.succeededChargesOf(purchase.reference)).toBe(0)
})

test('has it void at once where nobody was asked to pay', async () => {
  await stack.runJob('renewals', renewalAt, {}, unasked)
  await cancel()
  expect(await states()).toMatchObject({ invoices: [{ status: 'void', nextChargeAt: null }] })
  expect(await stack.paymentsOf(purchase.reference)).toEqual([])
})

test('leaves nothing of it to the next invoice, where it was too little for the processor', async () => {
  await stack.runJob('renewals', renewalAt, {}, unasked)
  await stack.credit(purchase.reference, 1_880n)
  const call = { kind: 'reset_before', method: 'POST', path: '/v1/payment_intents' }
  await stack.payments.simulate('faults', { ...call, times: 2 })
  await stack.runJob('payment-retries', '2026-03-01T10:10:00Z')
  await cancel()
  await eventually(async () =>
    expect(await states()).toMatchObject({
      purchase: 'cancelled',
      invoices: [{ status: 'uncollectible', paidMinor: 0n, carriedMinor: 0n }],
    }),
  )
})

test('gets what succeeds all the same paid back, once', async () => {
  await stack.replaceCard(purchase.customerRef, 'pm_card_simulator_processing')
  await stack.runJob('renewals', renewalAt)
  await cancel()
  const [paymentId] = await stack.paymentsOf(purchase.reference)
  await stack.payments.simulate(`payment_intents/${paymentId}/settle`, { isPaid: true })
  await eventually(async () => {
    expect(await stack.refundedMinorOf(paymentId!)).toBe(1_900n)
    expect(await states()).toMatchObject({
      purchase: 'cancelled',
      invoices: [{ status: 'void', paidMinor: 0n }],
    })
  })
  await stack.runJob('payment-retries', '2026-03-02T15:00:00Z')
  expect(await stack.refundedMinorOf(paymentId!)).toBe(1_900n)
  expect(await stack.payments.eventsOf(purchase.customerRef)).not.toContain('purchase.renewed')
})

test('does not come back when the same plan is bought anew', async () => {
  await stack.replaceCard(purchase.customerRef, 'pm_card_chargeCustomerFail')
  await stack.runJob('renewals', renewalAt, { TOLLGATE_PAYMENT_RETRY_HOURS: '1' })
  await stack.runJob('payment-retries', '2026-03-01T11:00:00Z', {
    TOLLGATE_PAYMENT_RETRY_HOURS: '1',
  })
  expect((await states()).purchase).toBe('suspended')
  await stack.pay(purchase.customerRef, planRef, 'pm_card_visa')
  await eventually(async () =>
    expect(await states()).toMatchObject({
      purchase: 'expired',
      invoices: [{ status: 'void' }],
    }),
  )
  await stack.runJob('payment-retries', '2026-03-01T12:00:00Z')
  expect(await stack.succeededChargesOf(purchase.reference)).toBe(0)
  const held = await stack.purchasesOf(purchase.customerRef)
  expect(held.map(({ status }) => status).sort()).toEqual(['active', 'expired'])
})

test('because it was given up has its payment withdrawn, and a new card is not charged', async () => {
  await stack.useCard(purchase.customerRef, 'pm_card_visa_chargeDeclinedStolenCard')
  await stack.runJob('renewals', renewalAt)
  expect((await states()).purchase).toBe('suspended')
  await stack.runJob('write-offs', '2026-04-30T12:00:00Z')
  await eventually(async () =>
    expect(await states()).toMatchObject({ purchase: 'expired', invoices: [{ status: 'void' }] }),
  )
  const [paymentId] = await stack.paymentsOf(purchase.reference)
  const { body } = await stack.payments.stripe('GET', `payment_intents/${paymentId}`)
  expect(body.status).toBe('canceled')
  await stack.payWith(purchase.customerRef, 'pm_card_mastercard')
  await stack.runJob('payment-retries', '2026-05-01T12:00:00Z')
  expect(await stack.succeededChargesOf(purchase.reference)).toBe(0)
})

test('with its customer is not charged any more', async () => {
  await stack.replaceCard(purchase.customerRef, 'pm_card_chargeCustomerFail')
  await stack.runJob('renewals', renewalAt)
  await stack.payments.call('DELETE', `/v1/ui/customers/${purchase.customerRef}`)
  await eventually(async () =>
    expect(await stack.invoicesOf(purchase.reference)).toMatchObject([{ status: 'void' }]),
  )
  await stack.runJob('payment-retries', '2026-03-01T15:00:00Z')
  expect(await stack.succeededChargesOf(purchase.reference)).toBe(0)
})
