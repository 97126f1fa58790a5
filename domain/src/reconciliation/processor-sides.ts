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
import type { PaymentJobParts } from '../settlement/work-off-inbox.ts'
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

export type Thing = { readonly id: string; readonly createdAt: Date }

/** Undefined: somebody else's, who uses the same account. Null: it says ours, and of nobody we know. */
export type Owner = string | null | undefined

/** A kind of thing that the processor and we both keep. */
export type Side<Theirs extends Thing> = {
  readonly kind: SharedKind
  readonly told: ComparedKind
  readonly list: (created: CreatedRange) => AsyncIterable<Theirs>
  readonly retrieve: (id: string) => Promise<Theirs | undefined>
  readonly ownersOf: (theirs: readonly Theirs[]) => Promise<readonly Owner[]>
  readonly compare: (ours: OwnRow | undefined, theirs: Theirs | undefined) => Compared | undefined
}

export type ProcessorSides = {
  readonly payment: Side<ProcessorIntent>
  readonly refund: Side<Refund>
  readonly dispute: Side<Dispute>
  /** Undefined where several providers share the account: payouts are the operator's then. */
  readonly payout: Side<Payout> | undefined
}

/** How each kind is told to be whose, and compared. */
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
      told: 'payment',
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
      told: 'refund',
      ownersOf: ownersByPayment,
      compare: compareRefund,
    },
    dispute: {
      ...atProcessor(processor, 'dispute'),
      told: 'dispute',
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
    told: 'payout',
    // What the account paid out before it sold through us is not ours.
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
