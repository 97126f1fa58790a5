import type { Environment } from '@tollgate/schemas/environment'
import type { SetupIntent } from '@tollgate/platform/payments/payment-objects'
import { findReusablePaymentMethod } from '../cards/repository.ts'
import { paymentHandlers } from '../purposes/payment-handlers.ts'
import { endSetup, insertSetup } from '../cards/setups-repository.ts'
import { lockCustomer } from '../customers/repository.ts'
import { readCustomerTime } from '../test-clocks/customer-time.ts'
import { jobOperation } from '../unit-of-work/job-operation.ts'
import { readCard } from './read-payment.ts'
import { providerMetadataKey } from '../payments/payment-intent.ts'
import { processorOf, type PaymentParts, PaymentUnknownError } from '../payments/payment-parts.ts'
import { customerMetadataKey } from '../payments/processor-customers.ts'

export type AppliedSetup =
  /** The card was saved, now or earlier. */
  | 'saved'
  /** The setup ended without a card and cannot be continued. */
  | 'ended'
  /** The card was declined. The customer can enter another one. */
  | 'declined'
  /** The customer has not entered a card yet, or the bank has not answered. */
  | 'open'

/**
 * Saves the card of a successful setup, and makes it the default at the processor. Each setup is applied once: a repeated event
 * neither replaces a later card nor restores a removed one.
 *
 * Throws PaymentProcessorUnavailableError. Throws PaymentUnknownError if the processor did not confirm the default card; a
 * repetition sets it.
 */
export async function applySetup(
  parts: PaymentParts,
  environment: Environment,
  setupIntentId: string,
): Promise<AppliedSetup> {
  const processor = processorOf(parts, environment)
  const setup = await processor.retrieve('setup_intent', setupIntentId)
  if (setup === undefined) return 'ended'
  const { status, paymentMethodId, metadata } = setup
  const providerId = metadata[providerMetadataKey]
  const customerRef = metadata[customerMetadataKey]
  if (providerId === undefined || customerRef === undefined) return 'ended'
  if (status !== 'succeeded' && status !== 'canceled') {
    return setup.lastDecline === undefined || status !== 'open' ? 'open' : 'declined'
  }
  const card =
    paymentMethodId === undefined ? undefined : await readCard(processor, paymentMethodId)
  const saved = status === 'succeeded' && card?.reusable === true ? card : undefined
  const name = { providerId, customerRef }
  const now = await readCustomerTime(parts.database, environment, name, parts.now())
  const operation = jobOperation('processor-events', { providerId, environment }, now)
  const current = await parts.commit(operation, async (work) => {
    const { sql, now } = work
    const customer = await lockCustomer(sql, providerId, customerRef)
    if (customer === undefined) return undefined
    // Setups from the previous release have no row yet.
    await insertSetup(sql, providerId, setupIntentId, customerRef, setup.createdAt)
    const isFirst = await endSetup(sql, providerId, setupIntentId, now)
    const handler = paymentHandlers['card-check']
    if (isFirst && saved !== undefined) await handler.onSucceeded(work, customerRef, saved)
    if (isFirst && saved === undefined) await handler.onFailed(work, customerRef)
    return findReusablePaymentMethod(sql, providerId, customerRef)
  })
  if (saved === undefined) return 'ended'
  if (current === saved.paymentMethodId) await makeDefaultCard(parts, environment, setup, current)
  return 'saved'
}

/** Runs after the commit. Our own charges name their card, so the default does not matter to them until then. */
async function makeDefaultCard(
  parts: PaymentParts,
  environment: Environment,
  { id, customerId }: SetupIntent,
  paymentMethodId: string,
): Promise<void> {
  if (customerId === undefined) return
  const processor = processorOf(parts, environment)
  const key = `${id}:default`
  const result = await processor.setDefaultPaymentMethod(customerId, paymentMethodId, key)
  if (result.outcome === 'unknown') throw new PaymentUnknownError(result.message)
}
