import { createHash } from 'node:crypto'
import type { Customer } from '../customers/repository.ts'
import type { Operation } from '../unit-of-work/unit-of-work.ts'
import { PaymentUnknownError, processorOf, type PaymentParts } from './payment-parts.ts'
import { providerMetadataKey } from './payment-intent.ts'
import { findProcessorCustomer, saveProcessorCustomer } from './processor-customers-repository.ts'

export const customerMetadataKey = 'tollgate_customer'

/**
 * Returns the processor's id of the customer, and creates the customer there if necessary. The idempotency key is derived from the
 * parameters, so a call that is repeated after a crash returns the same customer. The processor forgets keys after a day: a later
 * repetition creates a second customer, and the first stays unused.
 */
export async function requireProcessorCustomer(
  parts: PaymentParts,
  operation: Operation,
  { reference, email, name }: Pick<Customer, 'reference' | 'email' | 'name'>,
): Promise<string> {
  const { providerId, environment } = operation
  const rows = parts.database.of(providerId).in(environment)
  const kept = await rows.read((sql) => findProcessorCustomer(sql, providerId, reference))
  if (kept !== undefined) return kept
  const metadata = { [providerMetadataKey]: providerId, [customerMetadataKey]: reference }
  const description = { email, ...(name === null ? {} : { name }), metadata }
  const digest = createHash('sha256').update(JSON.stringify(description)).digest('hex')
  const key = `${reference}:customer:${digest.slice(0, 16)}`
  const result = await processorOf(parts, environment).ensureCustomer(description, key)
  switch (result.outcome) {
    case 'unknown':
      throw new PaymentUnknownError(result.message)
    case 'refused':
      throw new Error(`the processor refused customer ${reference}: ${result.message}`)
    case 'done':
      return parts.commit(operation, ({ sql, now }) =>
        saveProcessorCustomer(sql, providerId, reference, result.value.id, now),
      )
  }
}
