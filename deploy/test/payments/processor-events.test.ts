import { createHmac } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type {
  PaymentIntentBody,
  ProcessedPaymentBody,
} from '@tollgate/schemas/http/payment-intents'
import { eventually, PaymentStack, webhookSecret } from './payment-stack.ts'

/* Stripe's webhooks, signed and over HTTP: in order, out of order, twice, late and not at all. */

let customerRef: string
let sequence = 0

const payments = await PaymentStack.start({ hasWebhooks: true })
const planRef = await payments.createPlan({ price: 1900 })
afterAll(() => payments.stop())
beforeEach(async () => {
  customerRef = await payments.createCustomer()
  await payments.simulate('webhooks', { isHeld: false, order: 'created', copies: 1, dropNext: 0 })
})

async function intentOf(): Promise<PaymentIntentBody> {
  sequence += 1
  const request = { customerRef, productRef: payments.productRef, planRef }
  return (await payments.createIntent(`events-${sequence}`, request)).body
}

async function paid(card?: string): Promise<string> {
  const { processorPaymentId } = await intentOf()
  await payments.confirm(processorPaymentId, card)
  const { body } = await payments.process<ProcessedPaymentBody>(processorPaymentId, customerRef)
  expect(body.status).toBe('succeeded')
  return processorPaymentId
}

async function refundOf(
  paymentId: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<{ readonly id: string }> {
  const request = { payment_intent: paymentId, ...fields }
  return (await payments.stripe('POST', 'refunds', request)).body
}

async function statusOfPurchase(): Promise<string | undefined> {
  return (await payments.purchasesOf(customerRef))[0]?.status
}

/** Returns the events of the payment with this processor id, after all received webhooks are processed. */
async function eventsOf(type: RegExp, named: string): Promise<string[]> {
  const types = await payments.eventsOf(named)
  return types.filter((each) => type.test(each))
}

test('applies a payment from webhooks, without polling', async () => {
  const { processorPaymentId } = await intentOf()
  await payments.confirm(processorPaymentId)
  await eventually(async () => expect(await statusOfPurchase()).toBe('active'))
})

test.each([
  ['in reverse order', { order: 'reversed' }],
  ['three times each, shuffled', { order: 'shuffled', copies: 3 }],
])('reaches the same state if webhooks arrive %s', async (_, habits) => {
  await payments.simulate('webhooks', { isHeld: true, ...habits })
  const { processorPaymentId } = await intentOf()
  await payments.confirm(processorPaymentId, 'pm_card_visa_chargeDeclined')
  await payments.confirm(processorPaymentId)
  const refund = await refundOf(processorPaymentId)
  await payments.simulate('webhooks/flush')
  await eventually(async () => expect(await statusOfPurchase()).toBe('refunded'))
  expect(await payments.eventsOf(customerRef)).toEqual([
    'customer.created',
    'payment.succeeded',
    'purchase.created',
    'purchase.activated',
    'purchase.refunded',
  ])
  expect(await eventsOf(/refund/, refund.id)).toEqual(['payment.refunded'])
})

describe('refunds', () => {
  test('keep the purchase if they are partial, and end it if they are full', async () => {
    const paymentId = await paid()
    const part = await refundOf(paymentId, { amount: '900' })
    await eventually(async () =>
      expect(await eventsOf(/payment/, part.id)).toEqual(['payment.refunded']),
    )
    expect(await statusOfPurchase()).toBe('active')
    await refundOf(paymentId)
    await eventually(async () => expect(await statusOfPurchase()).toBe('refunded'))
  })

  test('are reported while they are pending, and take effect when they succeed', async () => {
    const paymentId = await paid('pm_card_pendingRefund')
    const refund = await refundOf(paymentId)
    await eventually(async () =>
      expect(await eventsOf(/payment/, refund.id)).toContain('payment.refund_pending'),
    )
    await payments.simulate(`refunds/${refund.id}/end`, { status: 'succeeded' })
    await eventually(async () => expect(await statusOfPurchase()).toBe('refunded'))
    expect(await eventsOf(/payment/, refund.id)).toEqual([
      'payment.refund_pending',
      'payment.refunded',
    ])
  })

  test('can fail after they have succeeded', async () => {
    const paymentId = await paid()
    const refund = await refundOf(paymentId)
    await eventually(async () =>
      expect(await eventsOf(/payment/, refund.id)).toEqual(['payment.refunded']),
    )
    await payments.simulate(`refunds/${refund.id}/end`, { status: 'failed' })
    await eventually(async () =>
      expect(await eventsOf(/payment/, refund.id)).toEqual([
        'payment.refunded',
        'payment.refund_failed',
      ]),
    )
  })
})

test.each(['won', 'lost'])('reports a dispute that is opened and %s', async (ending) => {
  const paymentId = await paid()
  const charges = await payments.stripe('GET', 'charges', { payment_intent: paymentId })
  const happened = await payments.simulate(`charges/${charges.body.data![0]!.id}/dispute`, {})
  const id = String(happened['id'])
  await eventually(async () => expect(await eventsOf(/dispute/, id)).toEqual(['payment.disputed']))
  await payments.simulate(`disputes/${id}/close`, { ending })
  await eventually(async () =>
    expect(await eventsOf(/dispute/, id)).toEqual(['payment.disputed', 'payment.dispute_closed']),
  )
})

test('reports a payout that arrives and fails days later', async () => {
  const paid = await payments.stripe('POST', 'payment_intents', {
    amount: '500000',
    currency: 'usd',
    payment_method: 'pm_card_bypassPending',
    return_url: 'https://shop.example/back',
    confirm: 'true',
  })
  expect(paid.body.status).toBe('succeeded')
  const { body: payout } = await payments.stripe('POST', 'payouts', {
    amount: '1000',
    currency: 'usd',
  })
  await payments.simulate(`payouts/${payout.id}/move`, { status: 'paid' })
  await eventually(async () => expect(await eventsOf(/payout/, payout.id)).toEqual(['payout.paid']))
  await payments.simulate(`payouts/${payout.id}/move`, { status: 'failed' })
  await eventually(async () =>
    expect(await eventsOf(/payout/, payout.id)).toEqual(['payout.paid', 'payout.failed']),
  )
})

test('finds objects without a webhook by reading the event list', async () => {
  await payments.simulate('webhooks', { dropNext: 1_000 })
  const { processorPaymentId } = await intentOf()
  await payments.confirm(processorPaymentId)
  await payments.sql`
    update payment_intents set next_look_at = now() - interval '1 second'
    where processor_payment_id = ${processorPaymentId}`
  await eventually(async () => expect(await statusOfPurchase()).toBe('active'))
})

describe('a webhook', () => {
  /** Sends an event that is signed like Stripe's at the given second. */
  function sendWebhook(event: object, second = Math.floor(Date.now() / 1000), sign = signatureOf) {
    const body = JSON.stringify(event)
    return payments.stack.callRaw(undefined, 'POST', '/webhooks/stripe/sandbox', {
      headers: { 'stripe-signature': sign(body, second) },
      body,
    })
  }

  function signatureOf(body: string, second: number): string {
    const mac = createHmac('sha256', webhookSecret).update(`${second}.${body}`).digest('hex')
    return `t=${second},v1=${mac}`
  }

  test('is refused unless Stripe signed it', async () => {
    const event = { id: 'evt_1', object: 'event', type: 'payout.paid' }
    for (const signature of ['', 't=1,v1=00', 'nonsense']) {
      expect((await sendWebhook(event, 0, () => signature)).status).toBe(400)
    }
    expect((await sendWebhook(event, Math.floor(Date.now() / 1000) - 3_600)).status).toBe(400)
  })

  test('is accepted for an object without an id, because Stripe would otherwise stop sending', async () => {
    const created = Math.floor(Date.now() / 1000)
    const data = { object: { object: 'balance', livemode: false } }
    const event = { id: 'evt_2', object: 'event', type: 'balance.available', created, data }
    expect((await sendWebhook({ ...event, livemode: false })).status).toBe(200)
  })
})
