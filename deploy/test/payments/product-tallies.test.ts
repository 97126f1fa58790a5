import { afterAll, expect, test } from 'vitest'
import type { ProductBody } from '@tollgate/schemas/http/products'
import { eventually } from './payment-stack.ts'
import { RenewalStack } from './renewal-stack.ts'

/* The earnings on a product's page, during payments, refunds and disputes at the processor. */

const stack = await RenewalStack.start({ hasWebhooks: true })
stack.payments.stack.clock.set('2026-01-31T12:00:00Z')
afterAll(() => stack.stop())

async function product(): Promise<Pick<ProductBody, 'balance' | 'totalTransactions'>> {
  const { payments } = stack
  const path = `/v1/sdk/products/${payments.productRef}`
  const { balance, totalTransactions } = (await payments.call<ProductBody>('GET', path)).body
  return { balance, totalTransactions }
}

test('counts sales and renewals minus refunds', async () => {
  const { payments } = stack
  expect(await product()).toEqual({ balance: 0, totalTransactions: 0 })
  const planRef = await payments.createPlan({ price: 1900, billingCycle: 'monthly' })
  const { reference, customerRef } = await stack.buy(planRef)
  expect(await product()).toEqual({ balance: 1900, totalTransactions: 1 })
  await stack.runJob('renewals', '2026-03-01T10:00:00Z')
  expect(await product()).toEqual({ balance: 3800, totalTransactions: 2 })

  // Credits belong to no product.
  const topUp = { customerRef, purpose: 'credit_topup', amount: 1000, currency: 'USD' }
  const { body } = await payments.createIntent('credits', topUp)
  await payments.confirm(body.processorPaymentId)
  await payments.process(body.processorPaymentId, customerRef)
  expect(await product()).toEqual({ balance: 3800, totalTransactions: 2 })

  const [renewal] = await stack.paymentsOf(reference)
  await payments.stripe('POST', 'refunds', { payment_intent: renewal!, amount: '700' })
  await eventually(async () =>
    expect(await product()).toEqual({ balance: 3100, totalTransactions: 2 }),
  )
  const another = await stack.buy(planRef)
  expect(await product()).toEqual({ balance: 5000, totalTransactions: 3 })
  const [{ id } = { id: '' }] = await stack.sql<{ id: string }[]>`
    select processor_payment_id as id from payment_intents
    where purchase_ref = ${another.reference}`
  const charges = await payments.stripe('GET', 'charges', { payment_intent: id })
  const dispute = await payments.simulate(`charges/${charges.body.data![0]!.id}/dispute`, {})
  await eventually(async () =>
    expect(await product()).toEqual({ balance: 3100, totalTransactions: 3 }),
  )
  await payments.simulate(`disputes/${String(dispute['id'])}/close`, { ending: 'won' })
  await eventually(async () =>
    expect(await product()).toEqual({ balance: 5000, totalTransactions: 3 }),
  )
  // The movements are folded into the total, which stays the same.
  await eventually(async () => {
    expect([...(await stack.sql`select 1 from product_movements`)]).toEqual([])
  })
  expect(await product()).toEqual({ balance: 5000, totalTransactions: 3 })
})
