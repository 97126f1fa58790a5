import type { Customer } from '../customers/repository.ts'
import { providerMetadataKey } from '../payments/payment-intent.ts'
import { processorOf, type PaymentParts, PaymentUnknownError } from '../payments/payment-parts.ts'
import { customerMetadataKey, requireProcessorCustomer } from '../payments/processor-customers.ts'
import type { Operation } from '../unit-of-work/unit-of-work.ts'
import { insertSetup } from '../cards/setups-repository.ts'

export type CardSetup = {
  /** Id of the processor's setup intent. */
  readonly setupIntentId: string
  /** Secret for the customer's browser only. */
  readonly clientSecret: string
}

/**
 * Starts the setup of a card for later charges. `attempt` names this try: a repetition with the same name returns the same setup.
 * The processor reports the result, and `applySetup` applies it.
 *
 * Throws PaymentUnknownError if the processor did not answer.
 */
export async function setUpCard(
  parts: PaymentParts,
  operation: Operation,
  customer: Pick<Customer, 'reference' | 'email' | 'name'>,
  attempt: string,
): Promise<CardSetup> {
  const { providerId, environment } = operation
  const customerId = await requireProcessorCustomer(parts, operation, customer)
  const metadata = {
    [providerMetadataKey]: providerId,
    [customerMetadataKey]: customer.reference,
  }
  const key = `${customer.reference}:setup:${attempt}`
  const result = await processorOf(parts, environment).createSetupIntent(
    { customerId, metadata },
    key,
  )
  if (result.outcome === 'unknown') throw new PaymentUnknownError(result.message)
  const clientSecret = 'intent' in result ? result.intent?.clientSecret : undefined
  if (!('intent' in result) || result.intent === undefined || clientSecret === undefined) {
    throw new Error(`the processor created no setup for ${customer.reference}: ${result.outcome}`)
  }
  const setupIntentId = result.intent.id
  await parts.commit(operation, ({ sql, now }) =>
    insertSetup(sql, providerId, setupIntentId, customer.reference, now),
  )
  return { setupIntentId, clientSecret }
}
