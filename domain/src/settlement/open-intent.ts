import type { CycleMode } from '../periods/periods.ts'
import { snapshotOf, type PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { TaxBreakdown } from '../invoices/tax-breakdown.ts'
import { drawReference } from '../unit-of-work/draw-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { insertAttempt, type PaymentAttempt } from '../payments/attempts-repository.ts'
import { wordsOf } from './carry-out.ts'
import type { IntentTerms } from './decide-terms.ts'
import { insertIntent } from '../payments/intents-repository.ts'
import {
  intentMetadataKey,
  payableMs,
  providerMetadataKey,
  type IntentPurpose,
  type IntentSwitch,
  type PaymentIntent,
} from '../payments/payment-intent.ts'
import { changeTo, termsAt } from '../payments/taxed-terms.ts'

export type IntentDraft = {
  readonly purpose: IntentPurpose
  readonly customerRef: string
  readonly processorCustomerId: string
  readonly productRef: string | null
  readonly plan: PlanSnapshot | undefined
  readonly cycleMode: CycleMode
  readonly checkoutSessionId: string | null
  readonly paymentMethodId: string | null
  /** True for a charge of an invoice that the provider asked for. */
  readonly isOutOfTurn?: true | undefined
  readonly keepsCard: boolean
  /** At the price: what comes to it is in `tax`. */
  readonly terms: IntentTerms
  /** Null: nobody knows. */
  readonly tax: TaxBreakdown | null
  /** Absent: none. */
  readonly planSwitch?: IntentSwitch | undefined
  readonly description: string | null
  /** The provider's, for the invoice; null: there is one, which says so. */
  readonly sellerName: string | null
  /** The purchase whose usage or renewal it pays. */
  readonly purchaseRef: string | null
  /** The invoice that it pays. Breaks a unique constraint while another payment of it is open. */
  readonly invoiceRef: string | null
  readonly idempotencyKey: string
  readonly inputSha256: string
}

export type OpenedIntent = { readonly intent: PaymentIntent; readonly attempt: PaymentAttempt }

/**
 * Keeps a payment, and the call that makes it at the processor: from the commit on, somebody carries it out. Breaks a
 * unique constraint where the idempotency key was used.
 */
export async function openIntent(work: UnitOfWork, draft: IntentDraft): Promise<OpenedIntent> {
  const { sql, providerId, now } = work
  const { terms, tax, plan, isOutOfTurn, ...asked } = draft
  const charged = tax === null ? terms : termsAt(terms, tax.totalMinor)
  const reference = drawReference('transaction')
  const intent: PaymentIntent = {
    ...asked,
    ...terms,
    ...charged,
    tax,
    planSwitch: draft.planSwitch ?? null,
    reference,
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
    // The caller carries the attempt out at once; this is for when it dies before.
    nextLookAt: new Date(now.getTime() + firstLookMs),
    createdAt: now,
    updatedAt: now,
    succeededAt: null,
  }
  const { paymentMethodId, description } = draft
  const words = wordsOf({
    amountMinor: charged.originalAmountMinor,
    currency: terms.currency,
    customerId: draft.processorCustomerId,
    metadata: { [intentMetadataKey]: reference, [providerMetadataKey]: providerId },
    keepsCard: draft.keepsCard,
    ...(description === null ? {} : { description }),
    ...(paymentMethodId === null
      ? {}
      : { confirm: { paymentMethodId, presence: 'off_session' as const } }),
  })
  // Stored with the words of the call and not sent: `adoptMoney` and `outcomeInTurn` read it.
  const request = {
    ...words,
    ...(tax === null ? {} : changeTo(tax)),
    ...(isOutOfTurn && { isOutOfTurn }),
  }
  const call = { operation: 'create', request } as const
  const [, attempt] = await Promise.all([
    insertIntent(sql, providerId, intent),
    insertAttempt(sql, providerId, reference, call, now),
  ])
  return { intent, attempt }
}

const firstLookMs = 60_000
