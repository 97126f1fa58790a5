import { randomUUID } from 'node:crypto'
import type { Database } from '@tollgate/platform/database/database'
import type { PaymentProcessor } from '@tollgate/platform/payments/payment-processor'
import { forEachConcurrently } from '@tollgate/domain/postgres/for-each-concurrently'

/** Number of concurrent operations, the same as in the billing runner. */
export const inFlightMax = 8

/** Number of rows that is enough to measure a rate. */
const rowsMax = 10_000
const paymentsMax = 2_000

/** Measures how many purchases per second plain transactions can lock, update and record in the outbox. */
export async function measureTransactions(pool: Database['control']): Promise<number> {
  const rows = await pool<{ provider_id: string; reference: string }[]>`
    select provider_id, reference from purchases where next_billing_date is not null limit ${rowsMax}`
  return measureRate(rows, async ({ provider_id: providerId, reference }) => {
    await pool.begin((sql) => [
      sql`select * from purchases where provider_id = ${providerId} and reference = ${reference} for update`,
      sql`update purchases set updated_at = now() where provider_id = ${providerId} and reference = ${reference}`,
      sql`insert into outbox (event_id, provider_id, type, livemode, object, created_at)
        values (${randomUUID()}, ${providerId}, 'measured', false, '{}', now())`,
    ])
  })
}

/** Measures how many payments with saved cards the processor makes per second, through the runner's own adapter. */
export async function measureProcessor(
  pool: Database['control'],
  processor: PaymentProcessor,
): Promise<number> {
  const rows = await pool<{ customer_id: string; card_id: string }[]>`
    select processor_customer_id as customer_id, payment_method_id as card_id
    from processor_customers join customer_cards using (provider_id, customer_ref)
    where payment_method_id is not null limit ${paymentsMax}`
  return measureRate(rows, async ({ customer_id: customerId, card_id: paymentMethodId }) => {
    const confirm = { paymentMethodId, presence: 'off_session' } as const
    const payment = { amountMinor: 4_900n, currency: 'USD', customerId, metadata: {}, confirm }
    const { outcome } = await processor.createPaymentIntent(payment, randomUUID())
    if (outcome !== 'succeeded') throw new Error(`A payment has the outcome ${outcome}`)
  })
}

async function measureRate<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<void>,
): Promise<number> {
  const beganMs = performance.now()
  await forEachConcurrently(items, inFlightMax, act)
  return items.length / ((performance.now() - beganMs) / 1_000)
}
