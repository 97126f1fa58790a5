import type { Environment } from '@tollgate/schemas/environment'
import { jobActor } from '../audit/actor.ts'
import { saveCard } from '../cards/save-card.ts'
import { lookAtCard } from './look-at-payment.ts'
import { providerMetadataKey } from './payment-intent.ts'
import { processorOf, type PaymentParts } from './payment-parts.ts'
import { customerMetadataKey } from './processor-customers.ts'
import { lockCustomer } from '../customers/repository.ts'

/** Keeps the card that was set up, once it was. Returns whether nothing more can come of it. */
export async function applySetup(
  parts: PaymentParts & { readonly now: () => Date },
  environment: Environment,
  setupIntentId: string,
): Promise<boolean> {
  const processor = processorOf(parts, environment)
  const setup = await processor.retrieve('setup_intent', setupIntentId)
  if (setup === undefined) return true
  const { status, paymentMethodId, metadata } = setup
  if (status !== 'succeeded') return status === 'canceled'
  const providerId = metadata[providerMetadataKey]
  const customerRef = metadata[customerMetadataKey]
  if (paymentMethodId === undefined || providerId === undefined || customerRef === undefined) {
    return true
  }
  const card = await lookAtCard(processor, paymentMethodId)
  if (card === undefined) return true
  const by = { actor: jobActor('processor-events'), requestId: null, idempotencyKey: null }
  await parts.commit({ ...by, providerId, environment, now: parts.now() }, async (work) => {
    const customer = await lockCustomer(work.sql, providerId, customerRef)
    if (customer !== undefined) await saveCard(work, customerRef, card)
  })
  return true
}
