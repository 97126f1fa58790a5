import { afterAll, expect, test } from 'vitest'
import type { PaymentMethodBody } from '@tollgate/schemas/http/auto-recharge'
import type { ProcessedPaymentBody } from '@tollgate/schemas/http/payment-intents'
import { eventually, PaymentStack, topUpTerms } from './payment-stack.ts'

/* Every webhook is lost. The service reads new and ended objects from the processor's event list. */

const payments = await PaymentStack.start({ settings: { TOLLGATE_PROCESSOR_POLL_SECONDS: '1' } })
afterAll(() => payments.stop())

async function payTopUp(customerRef: string): Promise<string> {
  const request = { customerRef, purpose: 'credit_topup', amount: 5000, currency: 'USD' }
  const { body } = await payments.createIntent(`lost-${customerRef}`, request)
  await payments.confirm(body.processorPaymentId, 'pm_card_bypassPending')
  const { body: processed } = await payments.process<ProcessedPaymentBody>(
    body.processorPaymentId,
    customerRef,
  )
  expect(processed.status).toBe('succeeded')
  return body.processorPaymentId
}

function expectEvents(named: string, types: readonly string[]): Promise<void> {
  return eventually(async () => expect(await payments.eventsOf(named)).toEqual(types))
}

test('finds a refund, and that it failed days later', async () => {
  const paymentId = await payTopUp(await payments.createCustomer())
  const refund = await payments.stripe('POST', 'refunds', { payment_intent: paymentId })
  await expectEvents(refund.body.id, ['payment.refunded'])
  await payments.simulate(`refunds/${refund.body.id}/end`, { status: 'failed' })
  await expectEvents(refund.body.id, ['payment.refunded', 'payment.refund_failed'])
})

test('finds a dispute, and how it ended', async () => {
  const paymentId = await payTopUp(await payments.createCustomer())
  const charges = await payments.stripe('GET', 'charges', { payment_intent: paymentId })
  const happened = await payments.simulate(`charges/${charges.body.data![0]!.id}/dispute`, {})
  const id = String(happened['id'])
  await expectEvents(id, ['payment.disputed'])
  await payments.simulate(`disputes/${id}/close`, { ending: 'won' })
  await expectEvents(id, ['payment.disputed', 'payment.dispute_closed'])
})

test('finds a payout, and that the bank returned it', async () => {
  await payTopUp(await payments.createCustomer())
  const request = { amount: '1000', currency: 'usd' }
  const { body: payout } = await payments.stripe('POST', 'payouts', request)
  await payments.simulate(`payouts/${payout.id}/move`, { status: 'paid' })
  await expectEvents(payout.id, ['payout.paid'])
  await payments.simulate(`payouts/${payout.id}/move`, { status: 'failed' })
  await expectEvents(payout.id, ['payout.paid', 'payout.failed'])
})

test('finds a card that was set up', async () => {
  const customerRef = await payments.createCustomer()
  const { body } = await payments.call<{ setupClientSecret: string }>(
    'PUT',
    '/v1/sdk/auto-recharge',
    { customerRef, ...topUpTerms },
  )
  const [setupId] = body.setupClientSecret.split('_secret_')
  const confirmed = await payments.stripe('POST', `setup_intents/${setupId}/confirm`, {
    payment_method: 'pm_card_visa',
  })
  expect(confirmed.isOk).toBe(true)
  await eventually(async () => {
    const path = `/v1/sdk/payment-method?customerRef=${customerRef}`
    const { body: method } = await payments.call<PaymentMethodBody>('GET', path)
    expect(method).toMatchObject({ kind: 'card', last4: '4242' })
  })
})
