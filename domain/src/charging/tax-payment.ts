import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { lockCustomer } from '../customers/repository.ts'
import { holdCarried } from '../invoices/carried-amounts.ts'
import { readTaxTerms } from '../invoices/read-tax.ts'
import { paymentLine } from '../invoices/taxed-sale.ts'
import { breakDownTax, type TaxBreakdown } from '../invoices/tax-breakdown.ts'
import { lookUpTaxId } from '../tax/look-up-tax-id.ts'
import { decideTaxDetails, type TaxDetails, type EnteredTaxDetails } from '../tax/tax-details.ts'
import { findTaxDetails, saveTaxDetails } from '../tax/tax-details-repository.ts'
import type { Operation, UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import {
  findOpenAttempt,
  insertAttempt,
  lastAttemptNumber,
  type PaymentAttempt,
} from '../payments/attempts-repository.ts'
import { executeAttempt } from '../settlement/execute-attempt.ts'
import { lockIntent, updateIntent } from '../payments/intents-repository.ts'
import { decideBalanceUse } from '../payments/decide-balance-use.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { paysInvoice } from '../payments/payment-purpose.ts'
import type { PaymentParts } from '../payments/payment-parts.ts'
import { reconcileIntent } from '../settlement/reconcile-intent.ts'
import { amountChangeTo, priceBeforeTax, totalTooLargeReason } from '../payments/taxed-terms.ts'

export type TaxOutcome =
  | { readonly kind: 'taxed'; readonly tax: TaxBreakdown; readonly currency: string }
  | { readonly kind: 'refused'; readonly reason: string }
  /** The payment has succeeded, was cancelled, or is with the bank, so its amount can no longer change. */
  | { readonly kind: 'not-open' }
  /** The processor did not answer. A repeated request continues from there. */
  | { readonly kind: 'unknown' }

/** Milliseconds between two checks whether another operation on the payment has finished. */
const pauseMs = 100

/**
 * Upper limit on calls for one payment. A customer changes the form a few times, and attempt numbers go up to 32,767.
 */
const callsMax = 1000

/**
 * Stores the customer's tax details and changes the payment's amount to include the tax. The parameters of the call are
 * committed before the call. After a crash at any moment, a reconciliation finds the amount that the processor has, and
 * a repeated request gives the same result.
 *
 * Throws PaymentProcessorUnavailableError if the payment could not be read from the processor. Nothing is stored in
 * that case.
 */
export async function taxPayment(
  parts: PaymentParts,
  operation: Operation,
  { reference, customerRef }: Pick<PaymentIntent, 'reference' | 'customerRef'>,
  given: EnteredTaxDetails,
  waitMs: number,
): Promise<TaxOutcome> {
  const deadline = performance.now() + waitMs
  await lookUpEnteredTaxId(parts, operation, given)
  for (;;) {
    await reconcileIntent(parts, operation, reference)
    const begun = await parts.commit(operation, (work) =>
      beginTaxChange(work, reference, customerRef, given),
    )
    if (begun.kind !== 'busy' && begun.kind !== 'begun') return begun
    if (begun.kind === 'begun') {
      const { intent, attempt, tax } = begun
      const result = await executeAttempt(parts, operation, intent, attempt)
      if (result.kind === 'answered') return taxOutcomeOf(result.intent, tax)
      if (!result.isInProgress) return { kind: 'unknown' }
    }
    if (performance.now() >= deadline) return { kind: 'unknown' }
    await sleep(pauseMs)
  }
}

/**
 * Looks up the tax id among entered tax details, if there is one. Sandbox customers have invented tax ids, which only a person can
 * declare invalid.
 */
export async function lookUpEnteredTaxId(
  { taxRegister, commit }: Pick<PaymentParts, 'taxRegister' | 'commit'>,
  operation: Operation,
  given: EnteredTaxDetails,
): Promise<void> {
  if (taxRegister === undefined || operation.environment === 'sandbox') return
  const decision = decideTaxDetails(given, undefined)
  if (decision.kind === 'refuse') return
  const { taxId, taxIdType } = decision.details
  if (taxId === null || taxIdType !== 'eu_vat') return
  await lookUpTaxId(taxRegister, (body) => commit(operation, body), taxId)
}

type BegunTaxChange =
  | TaxOutcome
  | { readonly kind: 'busy' }
  | {
      readonly kind: 'begun'
      readonly intent: PaymentIntent
      readonly attempt: PaymentAttempt
      readonly tax: TaxBreakdown
    }

async function beginTaxChange(
  work: UnitOfWork,
  reference: string,
  customerRef: string,
  given: EnteredTaxDetails,
): Promise<BegunTaxChange> {
  const { sql, providerId, now } = work
  // The customer is locked first, because a deletion locks the customer before the customer's payments.
  const customer = await lockCustomer(sql, providerId, customerRef)
  const intent = await lockIntent(sql, providerId, reference)
  if (intent === undefined) throw new Error(`payment ${reference} is gone`)
  const { paymentMethodId, currency } = intent
  if (paysInvoice(intent) || paymentMethodId !== null) {
    return { kind: 'refused', reason: 'The payment is made without the customer' }
  }
  const known = await findTaxDetails(sql, providerId, customerRef)
  const decision = decideTaxDetails(given, known)
  if (decision.kind === 'refuse') return { kind: 'refused', reason: decision.reason }
  const { details } = decision
  const tax = await calculateTax(work, intent, details)
  if (customer === undefined || !isOpen(intent)) return taxOutcomeOf(intent, tax)
  const open = await findOpenAttempt(sql, providerId, reference)
  if (open !== undefined) return { kind: 'busy' }
  const tooMuch = totalTooLargeReason(tax, currency)
  if (tooMuch !== undefined) return { kind: 'refused', reason: tooMuch }
  if ((await lastAttemptNumber(sql, providerId, reference)) >= callsMax) {
    return { kind: 'refused', reason: 'The payment was changed too often: make another one' }
  }
  await saveTaxDetails(sql, providerId, customerRef, details, now)
  // The balance pays at most what the payment holds already, and leaves the processor an amount that it can charge.
  const heldMinor = intent.fromBalanceMinor
  const { totalMinor } = tax
  const use = { totalMinor, creditMinor: heldMinor, currency, mayPayAll: false }
  const fromBalanceMinor = decideBalanceUse(use)
  const chargedMinor = totalMinor - fromBalanceMinor
  if (chargedMinor === intent.originalAmountMinor) {
    await updateIntent(sql, providerId, { ...intent, tax, fromBalanceMinor, updatedAt: now })
    await holdCarried(sql, providerId, intent, fromBalanceMinor - heldMinor, now)
    return { kind: 'taxed', tax, currency }
  }
  const request = amountChangeTo({ originalAmountMinor: chargedMinor, fromBalanceMinor, tax })
  const call = { operation: 'change', request } as const
  const attempt = await insertAttempt(sql, providerId, reference, call, now)
  return { kind: 'begun', intent, attempt, tax }
}

async function calculateTax(
  work: UnitOfWork,
  intent: PaymentIntent,
  details: TaxDetails,
): Promise<TaxBreakdown> {
  const { customerRef, productRef, planSnapshot: plan, currency } = intent
  const priceMinor = priceBeforeTax(intent)
  const lines = [paymentLine(plan === null ? 'credits' : 'plan', priceMinor)]
  const sale = { customerRef, productRef, plan, currency, lines }
  const { rule, isInclusive } = await readTaxTerms(work, sale, details)
  return breakDownTax(priceMinor, rule, isInclusive)
}

/** Returns whether the payment has not succeeded and no confirmation is in progress. */
function isOpen({ status, cancelWanted }: PaymentIntent): boolean {
  return status === 'requires_payment_method' && !cancelWanted
}

/**
 * Returns the outcome for the requested tax. A repeated request gets the same answer as the first one, even after the
 * payment succeeded.
 */
function taxOutcomeOf(intent: PaymentIntent, tax: TaxBreakdown): TaxOutcome {
  const { currency } = intent
  if (isDeepStrictEqual(intent.tax, tax)) return { kind: 'taxed', tax, currency }
  if (!isOpen(intent)) return { kind: 'not-open' }
  return { kind: 'refused', reason: 'The payment processor did not take the amount' }
}
