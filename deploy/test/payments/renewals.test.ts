import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { RenewalStack } from './renewal-stack.ts'

/* Renewals that the billing runner charges to saved cards, at the simulator of Stripe. */

let stack: RenewalStack
let planRef: string

beforeAll(async () => {
  stack = await RenewalStack.start()
  planRef = await stack.payments.createPlan({ price: 1900, billingCycle: 'monthly' })
})
afterAll(() => stack.stop())
beforeEach(() => {
  stack.payments.stack.clock.set('2026-01-31T12:00:00Z')
  return async () => {
    await stack.sql`update purchases set status = 'expired'`
    await stack.sql`update invoices set next_charge_at = null`
  }
})

const renewalAt = '2026-03-01T10:00:00Z'

async function told(purchase: Purchase): Promise<string[]> {
  const types = await stack.payments.eventsOf(purchase.customerRef)
  const from = types.indexOf('purchase.activated')
  return types.slice(from + 1)
}

describe('a renewal', () => {
  let purchase: Purchase

  beforeEach(async () => {
    purchase = await stack.buy(planRef)
  })

  test('is charged once to the card that the plan was bought with', async () => {
    await stack.runJob('renewals', renewalAt)
    await stack.runJob('renewals', renewalAt)
    await stack.runJob('payment-retries', '2026-03-01T11:00:00Z')
    expect(await stack.purchase(purchase.reference)).toMatchObject({
      status: 'active',
      nextBillingDate: new Date('2026-03-31T12:00:00Z'),
    })
    expect(await stack.invoicesOf(purchase.reference)).toMatchObject([
      { status: 'paid', totalMinor: 1_900n, paidMinor: 1_900n, nextChargeAt: null },
    ])
    expect(await stack.succeededChargesOf(purchase.reference)).toBe(1)
    expect(await told(purchase)).toEqual(['payment.succeeded', 'purchase.renewed'])
  })

  test('is charged with the tax, once the customer has said where it is', async () => {
    const { payments } = stack
    const merchant = { country: 'SE', vatNumber: 'SE556012579001' }
    expect((await payments.call('PATCH', '/v1/ui/merchant', merchant)).status).toBe(200)
    const { customerRef, reference } = purchase
    const topUp = { customerRef, purpose: 'credit_topup', amount: 1000, currency: 'USD' }
    const { body: open } = await payments.createIntent('says-where', topUp)
    const path = `/v1/sdk/payment-intents/${open.processorPaymentId}/business-details`
    await payments.call('POST', path, { isBusiness: false, customerCountry: 'SE' })
    await stack.runJob('renewals', renewalAt)
    expect(await stack.invoicesOf(reference)).toMatchObject([
      { status: 'paid', totalMinor: 2_375n, paidMinor: 2_375n },
    ])
    expect(await stack.succeededChargesOf(reference)).toBe(1)
    expect(await stack.purchase(reference)).toMatchObject({ amountMinor: 1_900 })
  })

  test('that is declined is tried again as scheduled, then suspends, and a new card pays it', async () => {
    await stack.replaceCard(purchase.customerRef, 'pm_card_chargeCustomerFail')
    await stack.runJob('renewals', renewalAt)
    expect(await stack.purchase(purchase.reference)).toMatchObject({
      status: 'past_due',
      retryCount: 1,
      nextRetryAt: new Date('2026-03-01T15:00:00Z'),
    })
    for (const at of ['2026-03-01T15:00:00Z', '2026-03-02T15:00:00Z', '2026-03-05T15:00:00Z']) {
      await stack.runJob('payment-retries', at)
      await stack.runJob('payment-retries', at)
    }
    expect(await stack.purchase(purchase.reference)).toMatchObject({ status: 'suspended' })
    expect(await told(purchase)).toEqual([
      'payment.failed',
      'purchase.past_due',
      'payment.failed',
      'payment.failed',
      'payment.failed',
      'purchase.suspended',
    ])

    await stack.payWith(purchase.customerRef, 'pm_card_mastercard')
    await stack.runJob('payment-retries', '2026-03-06T09:00:00Z')
    expect(await stack.purchase(purchase.reference)).toMatchObject({
      status: 'active',
      retryCount: 0,
      nextRetryAt: null,
      nextBillingDate: new Date('2026-03-31T12:00:00Z'),
    })
    expect(await stack.invoicesOf(purchase.reference)).toMatchObject([{ status: 'paid' }])
    expect(await stack.succeededChargesOf(purchase.reference)).toBe(1)
    expect((await told(purchase)).slice(-2)).toEqual(['payment.succeeded', 'purchase.activated'])
  })
})
