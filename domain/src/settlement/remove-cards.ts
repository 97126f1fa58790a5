import { removeRechargeCard } from '../auto-recharge/repository.ts'
import { lockCustomer } from '../customers/repository.ts'
import { processorOf, type PaymentParts, PaymentUnknownError } from '../payments/payment-parts.ts'
import { findProcessorCustomer } from '../payments/processor-customers-repository.ts'
import type { Operation } from '../unit-of-work/unit-of-work.ts'
import { removeCard } from '../cards/repository.ts'

/**
 * Detaches all cards of the customer at the processor, and deletes what is stored about them. If a crash or a processor without an
 * answer interrupts this, the card is still shown, and a repetition completes it.
 *
 * Throws PaymentUnknownError or PaymentProcessorUnavailableError if the processor did not answer.
 */
export async function removeCards(
  parts: PaymentParts,
  operation: Operation,
  customerRef: string,
): Promise<void> {
  const { providerId, environment } = operation
  const rows = parts.database.of(providerId).in(environment)
  const processorCustomerId = await rows.read((sql) =>
    findProcessorCustomer(sql, providerId, customerRef),
  )
  if (processorCustomerId !== undefined) {
    const processor = processorOf(parts, environment)
    for (const { id } of await processor.listPaymentMethods(processorCustomerId)) {
      const detached = await processor.detachPaymentMethod(id, `${customerRef}:detach:${id}`)
      if (detached.outcome === 'unknown') throw new PaymentUnknownError(detached.message)
    }
  }
  await parts.commit(operation, async (work) => {
    const { sql } = work
    await lockCustomer(sql, providerId, customerRef)
    await removeCard(sql, providerId, customerRef)
    await removeRechargeCard(work, customerRef)
  })
}
