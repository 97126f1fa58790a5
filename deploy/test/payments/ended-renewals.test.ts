import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChargeOutcome } from '@tollgate/domain/charging/charge-invoice'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { eventually } from './payment-stack.ts'
import { RenewalStack } from './renewal-stack.ts'

/* A purchase ends while its renewal is unpaid, with the simulator of Stripe. */

let purchase: Purchase

const stack = await RenewalStack.start({ hasWebhooks: true })
const planRef = await stack.payments.createPlan({ price: 1900, billingCycle: 'monthly' })
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.payments.stack.clock.set('2026-01-31T12:00:00Z')
  purchase = await stack.buy(planRef)
  return () => stack.endAll()
})

const renewalAt = '2026-03-01T10:00:00Z'

/** Makes the runner issue the invoice without charging it. */
const withoutCharge = async (): Promise<ChargeOutcome> => ({ kind: 'pending' })

const cancel = () =>
  stack.payments.call('POST', `/v1/sdk/purchases/${purchase.reference}/cancel`, {})

async function states() {
  const invoices = await stack.invoicesOf(purchase.reference)
  return { purchase: (await stack.purchase(purchase.reference)).status, invoices }
}

test('withdraws the payment and voids the invoice when the purchase ends', async () => {
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

test('voids the invoice at once if no payment was begun', async () => {
  await stack.runJob('renewals', renewalAt, {}, withoutCharge)
  await cancel()
  expect(await states()).toMatchObject({ invoices: [{ status: 'void', nextChargeAt: null }] })
  expect(await stack.paymentsOf(purchase.reference)).toEqual([])
})

test('carries nothing over to the next invoice if the amount was too small to charge', async () => {
  await stack.runJob('renewals', renewalAt, {}, withoutCharge)
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

test('refunds a payment that succeeds afterwards, once', async () => {
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

test('withdraws the payment of a renewal that was written off, and does not charge a new card', async () => {
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

test('charges nothing after the customer is deleted', async () => {
  await stack.replaceCard(purchase.customerRef, 'pm_card_chargeCustomerFail')
  await stack.runJob('renewals', renewalAt)
  await stack.payments.call('DELETE', `/v1/ui/customers/${purchase.customerRef}?settle=write_off`)
  await eventually(async () =>
    expect(await stack.invoicesOf(purchase.reference)).toMatchObject([{ status: 'void' }]),
  )
  await stack.runJob('payment-retries', '2026-03-01T15:00:00Z')
  expect(await stack.succeededChargesOf(purchase.reference)).toBe(0)
})

describe('a plan that is bought after an unpaid period', () => {
  const march = new Date('2026-02-28T12:00:00Z')
  let limited: string
  beforeAll(async () => {
    const terms = {
      price: 1_900,
      limit: 100,
      billingCycle: 'monthly',
      prorationPolicy: 'full',
    }
    limited = await stack.payments.createPlan(terms)
  })
  beforeEach(async () => {
    purchase = await stack.buy(limited)
  })

  const of = () => ({
    customerRef: purchase.customerRef,
    productRef: stack.payments.productRef,
  })
  const buyAgain = () => buy(limited, 'again')

  async function buy(plan: string, key: string): Promise<Purchase> {
    const { payments } = stack
    const request = { ...of(), planRef: plan }
    const { body } = await payments.createIntent(`${key}-${purchase.reference}`, request)
    await payments.confirm(body.processorPaymentId)
    await payments.process(body.processorPaymentId, purchase.customerRef)
    return (await held())!
  }

  async function held(): Promise<Purchase | undefined> {
    const purchases = await stack.purchasesOf(purchase.customerRef)
    return purchases.find(({ status }) => status === 'active')
  }

  test('counts the usage while the charge failed', async () => {
    await stack.replaceCard(purchase.customerRef, 'pm_card_chargeCustomerFail')
    await stack.runJob('renewals', renewalAt)
    await cancel()
    const window = `${purchase.reference}@${march.getTime() / 1000}`
    expect((await buyAgain()).allowance).toMatchObject({ window, since: march })
  })

  test.each([
    ['still', 'a free plan', { price: 0 }],
    ['still', 'a cheaper plan', { price: 100 }],
    ['no longer', 'a plan of the same price', { price: 1_900 }],
  ])('%s counts the usage of that period after %s', async (shares, _name, terms) => {
    const between = await stack.payments.createPlan({
      ...terms,
      limit: 10,
      billingCycle: 'monthly',
    })
    await stack.replaceCard(purchase.customerRef, 'pm_card_chargeCustomerFail')
    await stack.runJob('renewals', renewalAt)
    await cancel()
    const window = `${purchase.reference}@${march.getTime() / 1000}`
    if (terms.price === 0) {
      const request = { ...of(), planRef: between }
      expect((await stack.payments.call('POST', '/v1/sdk/activate', request)).status).toBe(200)
    } else {
      expect((await buy(between, 'between')).allowance).toMatchObject({ window, since: march })
    }
    const { allowance } = await buyAgain()
    expect(allowance?.window === window).toBe(shares === 'still')
  })

  test('counts the usage before the first attempt to charge', async () => {
    stack.payments.stack.clock.set('2026-02-28T20:00:00Z')
    await cancel()
    expect((await buyAgain()).allowance).toMatchObject({ since: march })
  })

  test('does not count usage of a period that was paid', async () => {
    stack.payments.stack.clock.set('2026-02-20T00:00:00Z')
    await cancel()
    stack.payments.stack.clock.set('2026-02-28T12:00:00Z')
    expect((await buyAgain()).allowance).toBeNull()
  })
})
