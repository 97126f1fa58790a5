import type { Database } from '@tollgate/platform/database/database'
import type { PaymentProcessor } from '@tollgate/platform/payments/payment-processor'
import { workOff } from '@tollgate/domain/publications/work-off'
import { testCard } from './subscribe.ts'

const inFlightMax = 32

/** Each of the customers has a card at the processor from now on, as the original has. */
export async function saveCards(
  pool: Database['control'],
  processor: PaymentProcessor,
  originalRef: string,
  customerRefs: readonly string[],
): Promise<void> {
  const customerIds: string[] = []
  const cardIds: string[] = []
  const numbered = customerRefs.map((customerRef, number) => ({ customerRef, number }))
  await workOff(numbered, inFlightMax, async ({ customerRef, number }) => {
    const made = await processor.ensureCustomer(
      { metadata: { tollgate_customer: customerRef } },
      `${customerRef}:made`,
    )
    if (made.outcome !== 'done') throw new Error(made.message)
    const { id } = made.value
    const saved = await processor.attachPaymentMethod(testCard, id, `${customerRef}:card`)
    if (saved.outcome !== 'done') throw new Error(JSON.stringify(saved))
    customerIds[number] = id
    cardIds[number] = saved.value.id
  })
  const made = pool`
    unnest(${[...customerRefs]}::text[], ${customerIds}::text[], ${cardIds}::text[])
      as made (customer_ref, customer_id, card_id)`
  await pool`
    insert into processor_customers
    select copy.* from processor_customers original, ${made}, jsonb_populate_record(original,
      jsonb_build_object('customer_ref', made.customer_ref, 'processor_customer_id', made.customer_id)) as copy
    where original.customer_ref = ${originalRef}`
  await pool`
    insert into customer_cards
    select copy.* from customer_cards original, ${made}, jsonb_populate_record(original,
      jsonb_build_object('customer_ref', made.customer_ref, 'payment_method_id', made.card_id)) as copy
    where original.customer_ref = ${originalRef}`
}
