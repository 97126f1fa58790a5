import type { Database } from '@tollgate/platform/database/database'
import type { PaymentProcessor } from '@tollgate/platform/payments/payment-processor'
import { forEachConcurrently } from '@tollgate/domain/postgres/for-each-concurrently'
import { testCard } from './subscribe.ts'

const inFlightMax = 32

/** Number of cards that one statement inserts well within its timeout. */
const cardsPerStatement = 5_000

type SavedCard = {
  readonly customerRef: string
  readonly customerId: string
  readonly cardId: string
}

/** Saves a card at the processor for each of the customers, like the card of the original customer. */
export async function saveCards(
  pool: Database['control'],
  processor: PaymentProcessor,
  originalRef: string,
  customerRefs: readonly string[],
): Promise<void> {
  const cards: SavedCard[] = []
  const numbered = customerRefs.map((customerRef, number) => ({ customerRef, number }))
  await forEachConcurrently(numbered, inFlightMax, async ({ customerRef, number }) => {
    const made = await processor.ensureCustomer(
      { metadata: { tollgate_customer: customerRef } },
      `${customerRef}:made`,
    )
    if (made.outcome !== 'done') throw new Error(made.message)
    const { id: customerId } = made.value
    const saved = await processor.attachPaymentMethod(testCard, customerId, `${customerRef}:card`)
    if (saved.outcome !== 'done') throw new Error(JSON.stringify(saved))
    cards[number] = { customerRef, customerId, cardId: saved.value.id }
  })
  for (let first = 0; first < cards.length; first += cardsPerStatement) {
    await insertCards(pool, originalRef, cards.slice(first, first + cardsPerStatement))
  }
}

async function insertCards(
  pool: Database['control'],
  originalRef: string,
  cards: readonly SavedCard[],
): Promise<void> {
  const customerRefs = cards.map(({ customerRef }) => customerRef)
  const customerIds = cards.map(({ customerId }) => customerId)
  const cardIds = cards.map(({ cardId }) => cardId)
  const made = pool`
    unnest(${customerRefs}::text[], ${customerIds}::text[], ${cardIds}::text[])
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
