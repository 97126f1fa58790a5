import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type {
  PaymentIntentBody,
  ProcessedPaymentBody,
} from '@tollgate/schemas/http/payment-intents'
import { eventually, PaymentStack } from './payment-stack.ts'

/* The processor answers with a fault, not at all, or after the effect, and processes die during calls. */

let customerRef: string
let sequence = 0

const payments = await PaymentStack.start({ settings: { TOLLGATE_STRIPE_TIMEOUT_MS: '400' } })
afterAll(() => payments.stop())
beforeEach(async () => {
  sequence += 1
  customerRef = await payments.createCustomer()
})

function topUpRequest() {
  return { customerRef, purpose: 'credit_topup', amount: 1000, currency: 'USD' }
}

async function countPayments(reference: string): Promise<number> {
  const { body } = await payments.stripe('GET', 'payment_intents', { limit: '100' })
  return body.data!.filter(({ metadata }) => metadata['tollgate_payment'] === reference).length
}

const balance = () => payments.balanceOf(customerRef)

async function pay({ processorPaymentId }: PaymentIntentBody): Promise<void> {
  await payments.confirm(processorPaymentId)
  const { body } = await payments.process<ProcessedPaymentBody>(processorPaymentId, customerRef)
  expect(body.status).toBe('succeeded')
  expect(await balance()).toBe(100_000)
  expect(await payments.succeededCharges(processorPaymentId)).toBe(1)
}

describe('a fault while a payment is created', () => {
  test.each([
    'error_before',
    'reset_before',
    'reset_after',
    'hang_before',
    'hang_after',
    'rate_limit',
  ])('%s: creates the payment once if the request is repeated with the same key', async (kind) => {
    const key = `fault-${sequence}`
    // After a reset, the SDK repeats the request once, so both attempts must fail.
    const times = kind.startsWith('reset') ? 2 : 1
    await payments.simulate('faults', { kind, method: 'POST', path: '/v1/payment_intents', times })
    const first = await payments.createIntent(key, topUpRequest())
    expect([201, 502]).toContain(first.status)
    await eventually(async () => {
      const again = await payments.createIntent(key, topUpRequest())
      expect(again.status).toBe(201)
      expect(await countPayments(again.body.transactionId!)).toBe(1)
      await pay(again.body)
    })
  })

  test('finds a created payment after a fault that the processor repeats for the key', async () => {
    const key = `fault-${sequence}`
    const fault = { kind: 'error_after', method: 'POST', path: '/v1/payment_intents' }
    await payments.simulate('faults', fault)
    expect((await payments.createIntent(key, topUpRequest())).status).toBe(502)
    const due = () => payments.sql`
      update payment_intents set next_look_at = now() - interval '1 second'
      where idempotency_key = ${key} and status = 'creating'`
    await eventually(async () => {
      await due()
      const again = await payments.createIntent(key, topUpRequest())
      expect(again.status).toBe(201)
      expect(await countPayments(again.body.transactionId!)).toBe(1)
    })
  })
})

/* State that a process leaves behind if it is killed between two effects. The tests restore rows to that state. */
describe('a process that is killed', () => {
  async function created(): Promise<PaymentIntentBody> {
    const { body } = await payments.createIntent(`killed-${sequence}`, topUpRequest())
    return body
  }

  /** Restores the rows to their state before the processor's answer was stored. */
  async function restoreSentAttempt(reference: string): Promise<void> {
    const { sql } = payments
    await sql`
      update payment_intents set status = 'creating', processor_payment_id = null,
        next_look_at = now() - interval '1 second' where reference = ${reference}`
    await sql`
      update payment_attempts set outcome = 'sent', settled_at = null
      where intent_ref = ${reference}`
  }

  test('after the call, before it stores the answer: another process stores it', async () => {
    const intent = await created()
    await restoreSentAttempt(intent.transactionId!)
    await eventually(async () => {
      const path = `/v1/sdk/payment-intents/${intent.processorPaymentId}`
      expect((await payments.call('GET', path)).status).toBe(200)
    })
    expect(await countPayments(intent.transactionId!)).toBe(1)
    await pay(intent)
  })

  test('after the call, and found a day later: the payment is looked up, not created again', async () => {
    const intent = await created()
    const reference = intent.transactionId!
    await payments.sql`
      update payment_attempts set sent_at = sent_at - interval '24 hours'
      where intent_ref = ${reference}`
    await restoreSentAttempt(reference)
    await eventually(async () => {
      const path = `/v1/sdk/payment-intents/${intent.processorPaymentId}`
      expect((await payments.call('GET', path)).status).toBe(200)
    })
    expect(await countPayments(reference)).toBe(1)
    await pay(intent)
  })

  test('before the call, and found a day later: the payment is created with a new key', async () => {
    const intent = await created()
    const { sql } = payments
    // A second payment that the processor does not know.
    const reference = `txn_NEVERMADE${String(sequence).padStart(3, '0')}`
    await sql`
      insert into payment_intents
      select provider_id, ${reference}, purpose, customer_ref, product_ref, plan_ref, plan_snapshot,
        cycle_mode, checkout_session_id, payment_method_id, keeps_card, 'creating', amount,
        original_amount, currency, exchange_rate, credits, description, processor_customer_id, null,
        null, null, '{}', false, false, ${reference}, '', expires_at, now(), created_at, updated_at,
        null
      from payment_intents where reference = ${intent.transactionId!}`
    await sql`
      insert into payment_attempts
        (provider_id, intent_ref, number, operation, idempotency_key, request, outcome, sent_at)
      select provider_id, ${reference}, 1, 'create', ${`${reference}:create:1`},
        jsonb_set(request, '{metadata,tollgate_payment}', to_jsonb(${reference}::text)), 'sent',
        sent_at - interval '24 hours'
      from payment_attempts where intent_ref = ${intent.transactionId!}`
    await eventually(async () => {
      await sql`
        update payment_intents set next_look_at = now() - interval '1 second'
        where reference = ${reference} and processor_payment_id is null`
      expect(await countPayments(reference)).toBe(1)
    })
    const attempts = await sql`
      select outcome from payment_attempts where intent_ref = ${reference} order by number`
    expect(attempts).toHaveLength(2)
    expect(attempts[0]).toEqual({ outcome: 'lost' })
  })
})
