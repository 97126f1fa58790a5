import type { CycleMode } from '../periods/periods.ts'
import { snapshotOf, type PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { TaxBreakdown } from '../invoices/tax-breakdown.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { insertAttempt, type PaymentAttempt } from '../payments/attempts-repository.ts'
import { createParametersOf } from './execute-attempt.ts'
import type { IntentTerms } from './decide-terms.ts'
import { insertIntent } from '../payments/intents-repository.ts'
import {
  intentMetadataKey,
  payableMs,
  providerMetadataKey,
  type IntentDiscount,
  type IntentPurpose,
  type IntentSwitch,
  type PaymentIntent,
} from '../payments/payment-intent.ts'
import { amountChangeTo, termsForTotal } from '../payments/taxed-terms.ts'

export type IntentDraft = {
  readonly purpose: IntentPurpose
  readonly customerRef: string
  /** Null if nothing is left for the processor to charge. */
  readonly processorCustomerId: string | null
  readonly productRef: string | null
  readonly plan: PlanSnapshot | undefined
  readonly cycleMode: CycleMode
  readonly checkoutSessionId: string | null
  readonly paymentMethodId: string | null
  /** Whether a provider requested this charge of an invoice. */
  readonly isOffSchedule?: true | undefined
  readonly keepsCard: boolean
  /** Amounts without added tax. Added tax is in `tax`. */
  readonly terms: IntentTerms
  /** Tax of the payment; null if it is not known. */
  readonly tax: TaxBreakdown | null
  /** The part of the price that the customer's balance pays, in minor units. The caller holds it. Absent if it pays nothing. */
  readonly fromBalanceMinor?: bigint | undefined
  /** The change of plan that the payment pays for; absent if it pays for none. */
  readonly planSwitch?: IntentSwitch | undefined
  /** What discounts take off the price. Absent for none. */
  readonly discounts?: readonly IntentDiscount[] | undefined
  readonly description: string | null
  /** Name of the provider for the invoice; null if the payment pays an existing invoice, which has the name. */
  readonly sellerName: string | null
  /** The purchase whose usage or renewal the payment pays. */
  readonly purchaseRef: string | null
  /** The invoice that the payment pays. Breaks a unique constraint if another payment of the invoice is open. */
  readonly invoiceRef: string | null
  readonly idempotencyKey: string
  readonly inputSha256: string
}

export type OpenedIntent = { readonly intent: PaymentIntent; readonly attempt: PaymentAttempt }

/**
 * Inserts a payment and the attempt that creates it at the processor. After the commit, the attempt is carried out even if this
 * process crashes. Breaks a unique constraint if the idempotency key was used before.
 */
export async function openIntent(work: UnitOfWork, draft: IntentDraft): Promise<OpenedIntent> {
  const { sql, providerId, now } = work
  const { tax, terms, isOffSchedule, paymentMethodId, description } = draft
  const intent = newIntent(work, draft)
  const { reference, originalAmountMinor, fromBalanceMinor, processorCustomerId } = intent
  if (processorCustomerId === null) throw new Error(`${reference} has nothing to charge`)
  const parameters = createParametersOf({
    amountMinor: originalAmountMinor,
    currency: terms.currency,
    customerId: processorCustomerId,
    metadata: { [intentMetadataKey]: reference, [providerMetadataKey]: providerId },
    keepsCard: draft.keepsCard,
    ...(description === null ? {} : { description }),
    ...(paymentMethodId === null
      ? {}
      : { confirm: { paymentMethodId, presence: 'off_session' as const } }),
  })
  const hasBreakdown = tax !== null || fromBalanceMinor > 0n
  // The extra fields are stored with the parameters of the call but not sent. `withProcessorAmount` and `countableFailureOf` read them.
  const request = {
    ...parameters,
    ...(hasBreakdown && amountChangeTo(intent)),
    ...(isOffSchedule && { isOutOfTurn: true }),
  }
  const call = { operation: 'create', request } as const
  const [, attempt] = await Promise.all([
    insertIntent(sql, providerId, intent),
    insertAttempt(sql, providerId, reference, call, now),
  ])
  return { intent, attempt }
}

/** Returns a payment that the processor does not know yet. */
export function newIntent({ now }: Pick<UnitOfWork, 'now'>, draft: IntentDraft): PaymentIntent {
  const { terms, tax, plan, isOffSchedule: _unused, fromBalanceMinor = 0n, ...fields } = draft
  const totalMinor = tax?.totalMinor ?? terms.originalAmountMinor
  return {
    ...fields,
    ...terms,
    ...termsForTotal(terms, totalMinor - fromBalanceMinor),
    fromBalanceMinor,
    tax,
    planSwitch: draft.planSwitch ?? null,
    reference: generateReference('transaction'),
    planRef: plan?.reference ?? null,
    planSnapshot: plan === undefined ? null : snapshotOf(plan),
    status: 'creating',
    processorPaymentId: null,
    failureReason: null,
    declinedCharges: [],
    refundWanted: false,
    cancelWanted: false,
    settlementWanted: false,
    paidMethodId: null,
    paidWith: null,
    expiresAt: new Date(now.getTime() + payableMs),
    // The caller carries out the attempt at once. The check at this time carries it out if the caller crashes before.
    nextLookAt: new Date(now.getTime() + firstPollMs),
    createdAt: now,
    updatedAt: now,
    succeededAt: null,
  }
}

const firstPollMs = 60_000
