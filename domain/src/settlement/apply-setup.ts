import type { Environment } from '@tollgate/schemas/environment'
import type { SetupIntent } from '@tollgate/platform/payments/payment-objects'
import { findReusablePaymentMethod } from '../cards/repository.ts'
import { paymentHandlers } from '../purposes/payment-handlers.ts'
import { endSetup, insertSetup } from '../cards/setups-repository.ts'
import { lockCustomer } from '../customers/repository.ts'
import { jobOperation } from '../unit-of-work/job-operation.ts'
import { lookAtCard } from './look-at-payment.ts'
import { providerMetadataKey } from '../payments/payment-intent.ts'
import { processorOf, type PaymentParts } from '../payments/payment-parts.ts'
import { PaymentUnknownError } from '../payments/payment-unknown-error.ts'
import { customerMetadataKey } from '../payments/processor-customers.ts'

export type AppliedSetup =
  /** Its card was taken over, now or before. */
  | 'saved'
  /** Nothing came of it, and nothing will. */
  | 'ended'
  /** The card was turned down, and another one may be entered. */
  | 'declined'
  /** Nobody has entered a card yet, or their bank has not answered. */
  | 'open'

/**
 * Keeps the card that was set up, once it was: it is the one that is charged from then on, at the processor, too. Each
 * setup is taken over once: told of again, it neither replaces a later card nor brings back one that was removed.
 *
 * Throws PaymentProcessorUnavailableError, and PaymentUnknownError where the processor did not say that it took the card
 * as the default: a repetition has it do so.
 */
export async function applySetup(
  parts: PaymentParts & { readonly now: () => Date },
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
    paymentMethodId === undefined ? undefined : await lookAtCard(processor, paymentMethodId)
  const kept = status === 'succeeded' && card?.reusable === true ? card : undefined
  const operation = jobOperation('processor-events', { providerId, environment }, parts.now())
  const current = await parts.commit(operation, async (work) => {
    const { sql, now } = work
    const customer = await lockCustomer(sql, providerId, customerRef)
    if (customer === undefined) return undefined
    // One that was begun by the release before is not known here yet.
    await insertSetup(sql, providerId, setupIntentId, customerRef, setup.createdAt)
    const isFirst = await endSetup(sql, providerId, setupIntentId, now)
    const handler = paymentHandlers['card-check']
    if (isFirst && kept !== undefined) await handler.onSucceeded(work, customerRef, kept)
    if (isFirst && kept === undefined) await handler.onFailed(work, customerRef)
    return findReusablePaymentMethod(sql, providerId, customerRef)
  })
  if (kept === undefined) return 'ended'
  if (current === kept.paymentMethodId) await makeDefault(parts, environment, setup, current)
  return 'saved'
}

/** After the commit: our own charges name their card, so that until then nothing is charged otherwise. */
async function makeDefault(
  parts: PaymentParts,
  environment: Environment,
  { id, customerId }: SetupIntent,
  paymentMethodId: string,
): Promise<void> {
  if (customerId === undefined) return
  const processor = processorOf(parts, environment)
  const key = `${id}:default`
  const made = await processor.setDefaultPaymentMethod(customerId, paymentMethodId, key)
  if (made.outcome === 'unknown') throw new PaymentUnknownError(made.message)
}
