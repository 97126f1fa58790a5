import { describe, expect, test } from 'vitest'
import type { PaymentIntentBody } from '@tollgate/schemas/http/payment-intents'
import { eventually } from './payment-stack.ts'
import { reconcileAmount, german, startSwedishProvider, swede } from './taxed-payments.ts'

/* A Swedish provider asks its customers for their country. The amounts of payments then include tax. */

const { payments, provider, topUp, setDetails, pay, amountAtProcessor } =
  await startSwedishProvider()

async function intentOf(reference: string): Promise<PaymentIntentBody> {
  return (await payments.call<PaymentIntentBody>('GET', `/v1/sdk/payment-intents/${reference}`))
    .body
}

function changesOf(reference: string) {
  return payments.sql<{ outcome: string; amount: string }[]>`
    select outcome, request ->> 'originalAmountMinor' as amount from payment_attempts
    where intent_ref = ${reference} and operation = 'change' order by number`
}

function keptDetails() {
  return payments.sql`
    select is_business, business_name, customer_name, country, tax_id, tax_id_type
    from customer_tax_details where customer_ref = ${provider.customerRef}`
}

describe('tax on a payment', () => {
  test('is added to a price in dollars, and the customer receives what the price buys', async () => {
    const intent = await topUp()
    const answer = await setDetails(intent.processorPaymentId, {
      ...swede,
      customerRef: provider.customerRef,
    })
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        taxBreakdown: {
          subtotal: 1000,
          taxAmount: 250,
          taxRate: 0.25,
          treatment: 'standard',
          total: 1250,
          currency: 'USD',
          inclusive: false,
        },
      },
    ])
    expect(await amountAtProcessor(intent.processorPaymentId)).toBe(1250)
    expect(await intentOf(intent.transactionId!)).toMatchObject({
      amount: 1250,
      originalAmount: 1250,
      status: 'requires_payment_method',
    })
    expect((await pay(intent)).status).toBe('succeeded')
    expect(await payments.balanceOf(provider.customerRef)).toBe(100_000)
    expect(await payments.succeededCharges(intent.processorPaymentId)).toBe(1)
  })

  test('is computed again from the price for each new answer of the customer', async () => {
    const intent = await topUp()
    const totals = []
    const finn = { isBusiness: false, customerCountry: 'FI' }
    for (const details of [swede, german, finn, swede, swede]) {
      const { body } = await setDetails(intent.transactionId!, details)
      expect(await amountAtProcessor(intent.processorPaymentId)).toBe(body.taxBreakdown.total)
      totals.push([body.taxBreakdown.total, body.taxBreakdown.treatment])
    }
    expect(totals).toEqual([
      [1250, 'standard'],
      [1000, 'reverse_charge'],
      [1255, 'standard'],
      [1250, 'standard'],
      [1250, 'standard'],
    ])
    // A change that does not affect the processor sends it no request.
    expect((await changesOf(intent.transactionId!)).map(({ amount }) => amount)).toEqual([
      '1250',
      '1000',
      '1255',
      '1250',
    ])
  })

  test('is included in the price if the plan says so', async () => {
    const planRef = await payments.createPlan({ price: 1250, taxBehavior: 'inclusive' })
    const plan = { productRef: payments.productRef, planRef }
    const { body: intent } = await provider.createIntent(plan)
    const { body } = await setDetails(intent.processorPaymentId, swede)
    expect(body.taxBreakdown).toMatchObject({
      ...{ subtotal: 1000, taxAmount: 250, total: 1250, inclusive: true },
    })
    expect(await changesOf(intent.transactionId!)).toEqual([])
    expect((await pay(intent)).status).toBe('succeeded')
  })

  test("follows the product's tax behavior if the plan has none", async () => {
    const path = `/v1/sdk/products/${payments.productRef}`
    expect((await payments.call('PUT', path, { taxBehavior: 'inclusive' })).status).toBe(200)
    const planRef = await payments.createPlan({ price: 2500 })
    const plan = { productRef: payments.productRef, planRef }
    const { body: intent } = await provider.createIntent(plan)
    const { body } = await setDetails(intent.processorPaymentId, swede)
    expect(body.taxBreakdown).toMatchObject({ taxAmount: 500, total: 2500, inclusive: true })
  })
})

describe('business details of a customer', () => {
  test('are stored, and tax the next payment', async () => {
    const intent = await topUp()
    expect((await setDetails(intent.processorPaymentId, german)).status).toBe(200)
    expect(await keptDetails()).toEqual([
      {
        is_business: true,
        business_name: 'Ada GmbH',
        customer_name: 'Ada Lovelace',
        country: 'DE',
        tax_id: 'DE123456789',
        tax_id_type: 'eu_vat',
      },
    ])
    provider.sequence += 1
    const next = await topUp()
    const { body } = await setDetails(next.processorPaymentId, { isBusiness: false })
    expect(body.taxBreakdown).toMatchObject({ taxRate: 0.19, total: 1190 })
    expect(await keptDetails()).toMatchObject([{ is_business: false, tax_id: null, country: 'DE' }])
  })

  test('are deleted with the customer, whose open payment can no longer be paid', async () => {
    const intent = await topUp()
    await setDetails(intent.processorPaymentId, german)
    await payments.call('DELETE', `/v1/ui/customers/${provider.customerRef}`)
    expect(await keptDetails()).toEqual([])
    expect((await setDetails(intent.processorPaymentId, swede)).status).toBe(400)
    expect(await keptDetails()).toEqual([])
  })

  test.each([
    [{}, 'Validation failed'],
    [{ isBusiness: true }, 'country is required'],
    [{ isBusiness: true, country: 'JP' }, 'country JP is not supported'],
    [{ isBusiness: false, customerCountry: 'JP' }, 'customerCountry JP is not supported'],
    [{ isBusiness: true, country: 'DE', taxId: 'DE12' }, 'taxId DE12 is not a tax id of DE'],
    [{ ...swede, taxIdType: 'xx_vat' }, 'Validation failed'],
    [{ ...swede, customerName: 'x'.repeat(101) }, 'Validation failed'],
  ])('refuses %j and stores nothing: %s', async (details, message) => {
    const intent = await topUp()
    const answer = await setDetails(intent.processorPaymentId, details)
    expect([answer.status, answer.body.message]).toEqual([
      400,
      expect.stringContaining(message) as string,
    ])
    expect(await amountAtProcessor(intent.processorPaymentId)).toBe(1000)
    expect(await keptDetails()).toEqual([])
  })

  test('are accepted only for existing payments of the same customer', async () => {
    const intent = await topUp()
    const other = await payments.createCustomer()
    const answer = await setDetails(intent.processorPaymentId, { ...swede, customerRef: other })
    expect(answer.status).toBe(400)
    const nobody = await setDetails('pi_nobody', swede)
    expect([nobody.status, nobody.body]).toMatchObject([404, { code: 'PAYMENT_INTENT_NOT_FOUND' }])
  })
})

describe('a payment that has succeeded', () => {
  test('answers a repeated request with the first response, and does not change', async () => {
    const intent = await topUp()
    const first = await setDetails(intent.processorPaymentId, swede)
    await pay(intent)
    expect(await setDetails(intent.processorPaymentId, swede)).toMatchObject({
      status: 200,
      body: first.body,
    })
    const late = await setDetails(intent.processorPaymentId, german)
    expect([late.status, late.body.message]).toEqual([
      400,
      'The payment is not open any more: its amount cannot be changed',
    ])
    expect(await keptDetails()).toMatchObject([{ country: 'SE' }])
  })

  test('keeps its amount if it was confirmed just before the request', async () => {
    const intent = await topUp()
    await payments.confirm(intent.processorPaymentId)
    expect((await setDetails(intent.processorPaymentId, swede)).status).toBe(400)
    expect(await intentOf(intent.transactionId!)).toMatchObject({
      amount: 1000,
      status: 'succeeded',
    })
  })
})

describe('a fault while the amount changes', () => {
  test.each([
    'error_before',
    'error_after',
    'reset_before',
    'reset_after',
    'hang_before',
    'hang_after',
  ])('%s: changes the amount once after a retry, and charges it once', async (kind) => {
    const intent = await topUp()
    // After a reset, the SDK repeats the request once, so both attempts must fail.
    const times = kind.startsWith('reset') ? 2 : 1
    const path = '/v1/payment_intents/:id'
    await payments.simulate('faults', { kind, method: 'POST', path, times })
    expect((await setDetails(intent.processorPaymentId, swede)).status).toBe(502)
    await eventually(async () => {
      const again = await setDetails(intent.processorPaymentId, swede)
      expect([again.status, again.body]).toMatchObject([200, { taxBreakdown: { total: 1250 } }])
    })
    expect(await amountAtProcessor(intent.processorPaymentId)).toBe(1250)
    const changes = await changesOf(intent.transactionId!)
    expect(changes.filter(({ outcome }) => outcome === 'sent' || outcome === 'unknown')).toEqual([])
    expect((await pay(intent)).status).toBe('succeeded')
    expect(await payments.succeededCharges(intent.processorPaymentId)).toBe(1)
  })
})

/* State that a process leaves behind if it is killed between two effects. The tests restore rows to that state. */
describe('a process that is killed', () => {
  async function restoreSentChange(reference: string): Promise<void> {
    const { sql } = payments
    await sql`
      update payment_intents set amount = 1000, original_amount = 1000, tax = null
      where reference = ${reference}`
    await sql`
      update payment_attempts set outcome = 'sent', settled_at = null
      where intent_ref = ${reference} and operation = 'change'`
  }

  test('after the call: the customer pays the amount at the processor', async () => {
    const intent = await topUp()
    await setDetails(intent.processorPaymentId, swede)
    await restoreSentChange(intent.transactionId!)
    expect((await pay(intent)).status).toBe('succeeded')
    expect(await intentOf(intent.transactionId!)).toMatchObject({ originalAmount: 1250 })
    const [kept] = await payments.sql`
      select tax ->> 'taxMinor' as tax from payment_intents
      where reference = ${intent.transactionId!}`
    expect(kept).toEqual({ tax: '250' })
  })

  test('after the call: the next read finds the amount, and another answer replaces it', async () => {
    const intent = await topUp()
    await setDetails(intent.processorPaymentId, swede)
    await restoreSentChange(intent.transactionId!)
    expect(await intentOf(intent.transactionId!)).toMatchObject({ originalAmount: 1250 })
    await restoreSentChange(intent.transactionId!)
    const { body } = await setDetails(intent.processorPaymentId, german)
    expect(body.taxBreakdown.total).toBe(1000)
    expect(await amountAtProcessor(intent.processorPaymentId)).toBe(1000)
  })

  test('before the call, while the customer pays: the payment keeps the paid amount', async () => {
    const intent = await topUp()
    await setDetails(intent.processorPaymentId, swede)
    await restoreSentChange(intent.transactionId!)
    await payments.stripe('POST', `payment_intents/${intent.processorPaymentId}`, {
      amount: '1000',
    })
    expect(await intentOf(intent.transactionId!)).toMatchObject({ originalAmount: 1000 })
    expect((await pay(intent)).status).toBe('succeeded')
    expect(await intentOf(intent.transactionId!)).toMatchObject({ originalAmount: 1000 })
  })
})

/* Reads of the processor that are taken at one moment and applied later, in any order. */
describe('a read of the processor', () => {
  test('is ignored if it precedes a change, unless its amount was paid', async () => {
    const { transactionId: reference = '' } = await topUp()
    const finn = { isBusiness: false, customerCountry: 'FI' }
    for (const details of [swede, finn]) await setDetails(reference, details)
    expect(await reconcileAmount(payments, reference, 1255n, 'open')).toEqual([1255n, 1255n, 255n])
    for (const amountMinor of [1000n, 1250n]) {
      expect(await reconcileAmount(payments, reference, amountMinor, 'open')).toBeUndefined()
    }
    expect(await reconcileAmount(payments, reference, 1250n, 'succeeded')).toEqual([
      1250n,
      1250n,
      250n,
    ])
    expect(await reconcileAmount(payments, reference, 1000n, 'processing')).toEqual([
      1000n,
      1000n,
      undefined,
    ])
  })

  test('fails for an amount that was never requested', async () => {
    const { transactionId: reference = '' } = await topUp()
    await setDetails(reference, swede)
    await expect(reconcileAmount(payments, reference, 1n, 'succeeded')).rejects.toThrow(
      'but the processor has 1 USD',
    )
  })
})

test('applies one of several concurrent answers, and charges its amount', async () => {
  const intent = await topUp()
  const answers = await Promise.all(
    [swede, german, swede, german].map((details) => setDetails(intent.transactionId!, details)),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const [kept] = await keptDetails()
  const total = kept!['country'] === 'SE' ? 1250 : 1000
  expect(await amountAtProcessor(intent.processorPaymentId)).toBe(total)
  expect(await intentOf(intent.transactionId!)).toMatchObject({ originalAmount: total })
  expect((await pay(intent)).status).toBe('succeeded')
})
