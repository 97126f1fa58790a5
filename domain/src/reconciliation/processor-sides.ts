import type {
  Dispute,
  PaymentIntent as ProcessorIntent,
  Payout,
  Refund,
} from '@tollgate/platform/payments/payment-objects'
import type { CreatedRange, PaymentProcessor } from '@tollgate/platform/payments/payment-processor'
import type { Environment } from '@tollgate/schemas/environment'
import { findIntentOwners } from '../payments/intents-repository.ts'
import { intentMetadataKey, providerMetadataKey } from '../payments/payment-intent.ts'
import type { PaymentJobParts } from '../settlement/process-inbox.ts'
import { findProvider, findSoleProvider } from '../providers/repository.ts'
import {
  compareDispute,
  comparePayment,
  comparePayout,
  compareRefund,
  type Compared,
  type OwnRow,
} from './compare-payments.ts'
import type { ComparedKind } from './finding.ts'
import type { SharedKind } from './own-rows.ts'

export type IdentifiedObject = { readonly id: string; readonly createdAt: Date }

/**
 * Provider of an object. Undefined if the object belongs to another user of the same processor account. Null if it is marked as
 * ours but has no known provider.
 */
export type Owner = string | null | undefined

/** A kind of object that both the processor and we store. */
export type Side<Theirs extends IdentifiedObject> = {
  readonly kind: SharedKind
  readonly comparedKind: ComparedKind
  readonly list: (created: CreatedRange) => AsyncIterable<Theirs>
  readonly retrieve: (id: string) => Promise<Theirs | undefined>
  readonly ownersOf: (theirs: readonly Theirs[]) => Promise<readonly Owner[]>
  readonly compare: (ours: OwnRow | undefined, theirs: Theirs | undefined) => Compared | undefined
}

export type ProcessorSides = {
  readonly payment: Side<ProcessorIntent>
  readonly refund: Side<Refund>
  readonly dispute: Side<Dispute>
  /** Payouts; undefined if several providers share the processor account, because payouts then belong to the operator. */
  readonly payout: Side<Payout> | undefined
}

/** Returns for each kind how its provider is found and how it is compared. */
export async function processorSides(
  { everyone }: PaymentJobParts,
  processor: PaymentProcessor,
  environment: Environment,
): Promise<ProcessorSides> {
  const ownersByPayment = async (
    objects: readonly { readonly paymentIntentId: string | undefined }[],
  ): Promise<readonly Owner[]> => {
    const paymentIds = objects.flatMap(({ paymentIntentId }) => paymentIntentId ?? [])
    const owners = await findIntentOwners(everyone.in(environment), paymentIds)
    return objects.map(({ paymentIntentId }) => owners.get(paymentIntentId ?? ''))
  }
  return {
    payment: {
      ...atProcessor(processor, 'payment_intent'),
      comparedKind: 'payment',
      ownersOf: async (payments) =>
        payments.map(({ metadata }) =>
          metadata[intentMetadataKey] === undefined
            ? undefined
            : (metadata[providerMetadataKey] ?? null),
        ),
      compare: comparePayment,
    },
    refund: {
      ...atProcessor(processor, 'refund'),
      comparedKind: 'refund',
      ownersOf: ownersByPayment,
      compare: compareRefund,
    },
    dispute: {
      ...atProcessor(processor, 'dispute'),
      comparedKind: 'dispute',
      ownersOf: ownersByPayment,
      compare: compareDispute,
    },
    payout: await payoutSide(everyone, processor, environment),
  }
}

async function payoutSide(
  { control }: PaymentJobParts['everyone'],
  processor: PaymentProcessor,
  environment: Environment,
): Promise<ProcessorSides['payout']> {
  const sole = await findSoleProvider(control, environment)
  const provider = sole === undefined ? undefined : await findProvider(control, sole)
  if (provider === undefined) return undefined
  return {
    ...atProcessor(processor, 'payout'),
    comparedKind: 'payout',
    // Payouts of the account from before the provider existed are not ours.
    ownersOf: async (payouts) =>
      payouts.map(({ createdAt }) => (createdAt < provider.createdAt ? undefined : sole)),
    compare: comparePayout,
  }
}

function atProcessor<Kind extends SharedKind>(processor: PaymentProcessor, kind: Kind) {
  return {
    kind,
    list: (created: CreatedRange) => processor.list(kind, created),
    retrieve: (id: string) => processor.retrieve(kind, id),
  }
}
