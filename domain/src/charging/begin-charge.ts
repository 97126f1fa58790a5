import { findReusablePaymentMethod } from '../cards/repository.ts'
import { lockInvoice } from '../invoices/repository.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { dueMinor } from '../invoices/transitions.ts'
import { dollarCents, dollarsPerUnit } from '../money/dollar-amount.ts'
import { findExchangeRate } from '../money/exchange-rates.ts'
import { findLastCharge, findOpenAttempt, insertAttempt } from '../payments/attempts-repository.ts'
import type { IntentTerms } from '../settlement/decide-terms.ts'
import {
  countIntentsOfInvoice,
  lockIntentOfInvoice,
  updateIntent,
} from '../payments/intents-repository.ts'
import { openIntent, type OpenedIntent } from '../settlement/open-intent.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { findProcessorCustomer } from '../payments/processor-customers-repository.ts'
import { listPurchases, type Purchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { sha256OfInput } from '../money-ledger/ledger.ts'
import type { BegunCharge, InvoiceCharge } from './charge-invoice.ts'
import { decideCharge, failureWithoutCall } from './decide-charge.ts'

/**
 * Stores the next call that charges the saved card for the invoice, so that the caller can make it after the commit.
 * Returns the known outcome instead if no call is to be made.
 */
export async function beginCharge(
  work: UnitOfWork,
  { invoiceRef, isOffSchedule }: Pick<InvoiceCharge, 'invoiceRef' | 'isOffSchedule'>,
): Promise<BegunCharge> {
  const { sql, providerId } = work
  // The payment intent is locked before the invoice, in the same order as when a payment succeeds.
  const intent = await lockIntentOfInvoice(sql, providerId, invoiceRef)
  const invoice = await lockInvoice(sql, providerId, invoiceRef)
  if (invoice === undefined || invoice.status !== 'open' || invoice.isHeld) return pending
  if (intent !== undefined && (await isInProgress(work, intent, invoice))) {
    return { kind: 'reconcile', intentRef: intent.reference }
  }
  const last = await findLastCharge(sql, providerId, invoiceRef)
  const payer = await findPayer(work, invoice)
  const facts = { invoice, intentStatus: intent?.status, last, method: payer?.method }
  const decision = decideCharge(facts)
  if (decision.kind === 'declined') return { kind: 'known', outcome: decision }
  if (payer === undefined) throw new Error(`${invoiceRef} has no card to charge`)
  if (intent === undefined) {
    const number = (await countIntentsOfInvoice(sql, providerId, invoiceRef)) + 1
    const purchase = await findPurchaseOfInvoice(work, invoice)
    const terms = await requireTerms(work, invoice)
    const charged = { ...payer, isOffSchedule }
    return { kind: 'send', ...(await openPayment(work, invoice, purchase, charged, terms, number)) }
  }
  const request = { paymentMethodId: payer.method, ...(isOffSchedule && { isOutOfTurn: true }) }
  const call = { operation: 'confirm', request } as const
  const attempt = await insertAttempt(sql, providerId, intent.reference, call, work.now)
  return { kind: 'send', intent, attempt }
}

/**
 * Like `beginCharge`, for an invoice that this transaction has issued, so no earlier charge can exist. Returns
 * undefined if the currency has no exchange rate. The invoice is issued all the same, and the charge that follows
 * reports the missing rate.
 */
export async function beginFirstCharge(
  work: UnitOfWork,
  invoice: Invoice,
  purchase: Purchase,
): Promise<BegunCharge | undefined> {
  const payer = await findPayer(work, invoice)
  if (payer === undefined) {
    return { kind: 'known', outcome: failureWithoutCall(invoice, undefined, false) }
  }
  const terms = await findTerms(work, invoice)
  if (terms === undefined) return undefined
  return { kind: 'send', ...(await openPayment(work, invoice, purchase, payer, terms, 1)) }
}

/**
 * Stores the call that creates a payment which the customer confirms with a card that is then saved. The caller has
 * locked the invoice, and it has no other open payment.
 */
export async function openCustomerPayment(
  work: UnitOfWork,
  invoice: Invoice,
  customerId: string,
): Promise<OpenedIntent> {
  const { sql, providerId } = work
  const number = (await countIntentsOfInvoice(sql, providerId, invoice.reference)) + 1
  const terms = await requireTerms(work, invoice)
  const payer = { method: null, customerId }
  return openPayment(
    work,
    invoice,
    await findPurchaseOfInvoice(work, invoice),
    payer,
    terms,
    number,
  )
}

/** The saved card and the customer to charge, as ids of the processor. */
type Payer = { readonly method: string; readonly customerId: string }

/** `method` is null if the customer enters a card. */
type PayerOrCustomer = Omit<Payer, 'method'> & {
  readonly method: string | null
  readonly isOffSchedule?: true | undefined
}

/** Returns undefined if no card is saved. */
async function findPayer(
  { sql, providerId }: UnitOfWork,
  { customerRef }: Invoice,
): Promise<Payer | undefined> {
  const [method, customerId] = await Promise.all([
    findReusablePaymentMethod(sql, providerId, customerRef),
    findProcessorCustomer(sql, providerId, customerRef),
  ])
  return method === undefined || customerId === undefined ? undefined : { method, customerId }
}

async function findPurchaseOfInvoice(
  { sql, providerId }: UnitOfWork,
  { purchaseRef: reference }: Invoice,
): Promise<Purchase | undefined> {
  if (reference === null) return undefined
  const [purchase] = await listPurchases(sql, providerId, { reference, rowsMax: 1 })
  return purchase
}

const pending: BegunCharge = { kind: 'known', outcome: { kind: 'pending' } }

/**
 * Returns whether a payment of the invoice is still in progress. A payment of an amount that is no longer due counts as
 * well: this requests its cancellation, and the next attempt opens another payment.
 */
async function isInProgress(
  { sql, providerId, now }: UnitOfWork,
  intent: PaymentIntent,
  invoice: Invoice,
): Promise<boolean> {
  if (intent.originalAmountMinor !== dueMinor(invoice)) {
    const unwanted = { ...intent, cancelWanted: true, nextLookAt: now, updatedAt: now }
    await updateIntent(sql, providerId, unwanted)
    return true
  }
  if (intent.cancelWanted || intent.status === 'creating' || intent.status === 'processing') {
    return true
  }
  return (await findOpenAttempt(sql, providerId, intent.reference)) !== undefined
}

async function openPayment(
  work: UnitOfWork,
  invoice: Invoice,
  purchase: Purchase | undefined,
  { method: paymentMethodId, customerId: processorCustomerId, isOffSchedule }: PayerOrCustomer,
  terms: IntentTerms,
  number: number,
): Promise<OpenedIntent> {
  const { reference, customerRef, purchaseRef, planSnapshot } = invoice
  return openIntent(work, {
    purpose: 'usage_billing',
    customerRef,
    processorCustomerId,
    productRef: purchase?.productRef ?? null,
    plan: planSnapshot ?? undefined,
    cycleMode: purchase?.cycleMode ?? 'calendar',
    checkoutSessionId: null,
    paymentMethodId,
    isOffSchedule,
    keepsCard: paymentMethodId === null,
    terms,
    // The amount due already includes the tax.
    tax: null,
    description: invoice.number === null ? null : `Invoice ${invoice.number}`,
    sellerName: null,
    purchaseRef,
    invoiceRef: reference,
    idempotencyKey: `invoice:${reference}:${number}`,
    inputSha256: sha256OfInput([reference, terms.originalAmountMinor.toString(), terms.currency]),
  })
}

/**
 * Returns the amount due in the invoice's currency and in US cents. Returns undefined if the currency has no exchange
 * rate.
 */
async function findTerms(
  { sql, providerId }: UnitOfWork,
  invoice: Invoice,
): Promise<IntentTerms | undefined> {
  const { currency } = invoice
  const rate = await findExchangeRate(sql, providerId, currency)
  if (rate === undefined) return undefined
  const exchangeRate = dollarsPerUnit(rate)
  const originalAmountMinor = dueMinor(invoice)
  const amountMinor = dollarCents(originalAmountMinor, currency, exchangeRate)
  return { amountMinor, originalAmountMinor, currency, exchangeRate, credits: null }
}

async function requireTerms(work: UnitOfWork, invoice: Invoice): Promise<IntentTerms> {
  const terms = await findTerms(work, invoice)
  if (terms === undefined) throw new Error(`There is no exchange rate for ${invoice.currency}`)
  return terms
}
