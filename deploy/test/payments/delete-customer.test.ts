import { afterAll, expect, test } from 'vitest'
import { changeTaxDetails } from '@tollgate/domain/tax/tax-details-repository'
import { jobOperation } from '@tollgate/domain/unit-of-work/job-operation'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import type { ProcessedPaymentBody } from '@tollgate/schemas/http/payment-intents'
import { eventually, PaymentStack } from './payment-stack.ts'

/* A deleted customer is also deleted at the processor, even if that needs several attempts. */

const payments = await PaymentStack.start({ settings: { TOLLGATE_STRIPE_TIMEOUT_MS: '1000' } })
const planRef = await payments.createPlan({ price: 1900, billingCycle: 'monthly' })
afterAll(() => payments.stop())

async function intentOf(customerRef: string): Promise<string> {
  const request = { customerRef, productRef: payments.productRef, planRef }
  const { body } = await payments.createIntent(`deleted-${customerRef}`, request)
  return body.processorPaymentId
}

async function buyer(): Promise<{ customerRef: string; paymentId: string; processorId: string }> {
  const customerRef = await payments.createCustomer()
  const paymentId = await intentOf(customerRef)
  await payments.confirm(paymentId)
  const { body } = await payments.process<ProcessedPaymentBody>(paymentId, customerRef)
  expect(body.status).toBe('succeeded')
  return { customerRef, paymentId, processorId: await processorIdOf(paymentId) }
}

async function processorIdOf(paymentId: string): Promise<string> {
  const intent = await payments.simulator.processor.retrieve('payment_intent', paymentId)
  return intent!.customerId!
}

async function remove(customerRef: string): Promise<void> {
  const { status } = await payments.call('DELETE', `/v1/ui/customers/${customerRef}`)
  expect(status).toBeLessThan(300)
}

function expectDeleted(processorId: string): Promise<void> {
  return eventually(async () => {
    const { processor } = payments.simulator
    expect(await processor.retrieveCustomer(processorId)).toBeUndefined()
    const rows = await payments.sql`
      select 1 from processor_customers where processor_customer_id = ${processorId}`
    expect(rows).toHaveLength(0)
  }, 30_000)
}

test('deletes the customer with the card and the cancellation feedback', async () => {
  const { customerRef, processorId, paymentId } = await buyer()
  const [purchase] = await payments.purchasesOf(customerRef)
  const reason = 'I, Ada, move to Rome'
  await payments.call('POST', `/v1/sdk/purchases/${purchase!.reference}/cancel`, { reason })
  const kept = () => payments.sql<{ cancellation_reason: string | null }[]>`
    select cancellation_reason from purchases where reference = ${purchase!.reference}`
  expect(await kept()).toEqual([{ cancellation_reason: reason }])
  await remove(customerRef)
  expect((await kept())[0]!.cancellation_reason).not.toBe(reason)
  await expectDeleted(processorId)
  expect(await payments.simulator.processor.listPaymentMethods(processorId)).toEqual([])
  // Payments of a deleted customer can still be refunded.
  const refund = await payments.stripe('POST', 'refunds', { payment_intent: paymentId })
  expect(refund.isOk).toBe(true)
})

test('stores no tax details of a customer who is deleted before the form with them arrives', async () => {
  const customerRef = await payments.createCustomer()
  await remove(customerRef)
  const { clock, database } = payments.stack
  const { providerId } = payments.tenant
  const caller = { providerId, environment: 'sandbox' } as const
  const operation = jobOperation('checkout', caller, new Date(clock.now()))
  const entered = { isBusiness: false, customerCountry: 'DE', address: 'Spreeufer 1' }
  await runUnitOfWork(database, operation, (work) => changeTaxDetails(work, customerRef, entered))
  expect(
    await payments.sql`select 1 from customer_tax_details where customer_ref = ${customerRef}`,
  ).toEqual([])
})

test.each([
  ['error_before', 1],
  ['hang_before', 1],
  // The SDK repeats the request once by itself.
  ['reset_after', 2],
])('deletes the customer although the processor first answers with %s', async (kind, times) => {
  const { customerRef, processorId } = await buyer()
  await payments.simulate('faults', { kind, method: 'DELETE', path: '/v1/customers/:id', times })
  await remove(customerRef)
  const retried = expectDeleted(processorId)
  await eventually(async () => {
    // The clock does not move, so the next attempt must be made due.
    const waiting = await payments.sql`
        update processor_customers set removal_due_at = ${new Date(payments.stack.clock.now())}
        where customer_ref = ${customerRef} and removal_error is not null returning customer_ref`
    expect(waiting).toHaveLength(1)
  }, 30_000)
  await retried
})

test('deletes the customer only after open payments are withdrawn', async () => {
  const customerRef = await payments.createCustomer()
  const paymentId = await intentOf(customerRef)
  const processorId = await processorIdOf(paymentId)
  await remove(customerRef)
  await expectDeleted(processorId)
  expect(await payments.simulator.processor.retrieve('payment_intent', paymentId)).toMatchObject({
    status: 'canceled',
  })
})

test('deletes the customer only after a payment that the bank was processing has failed', async () => {
  const customerRef = await payments.createCustomer()
  const paymentId = await intentOf(customerRef)
  const processorId = await processorIdOf(paymentId)
  await payments.confirm(paymentId, 'pm_card_simulator_processing')
  await payments.process(paymentId, customerRef)
  await remove(customerRef)
  await payments.simulate(`payment_intents/${paymentId}/settle`, { isPaid: false })
  const { clock } = payments.stack
  clock.set(new Date(clock.now() + 120_000).toISOString())
  await expectDeleted(processorId)
})
