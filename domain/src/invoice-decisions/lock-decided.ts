import { isPeriodObsolete } from '../billing/apply-paid-invoice.ts'
import { lockCustomer } from '../customers/repository.ts'
import { lockIntentOfInvoice, lockPaidIntentOfInvoice } from '../payments/intents-repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import { lockPurchase, type Purchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { findRecurringPeriod } from '../invoices/billed-periods.ts'
import type { InvoiceWithLines } from '../invoices/invoice.ts'
import { listLines } from '../invoices/lines.ts'
import { findInvoice, lockInvoice } from '../invoices/repository.ts'

/** An invoice to decide about, with the rows that it can change. All of them are locked. */
export type DecidedInvoice = {
  readonly invoice: InvoiceWithLines
  readonly purchase: Purchase | undefined
  /** The successful payment of the invoice; undefined if it was paid in another way. */
  readonly paidIntent: PaymentIntent | undefined
  /** The period whose price the invoice charges. */
  readonly period: ChargedPeriod | undefined
  /** Whether the period begins when the invoice is paid, and can still begin. */
  readonly startsPeriod: boolean
  /** A deleted customer has no next invoice. */
  readonly isCustomerDeleted: boolean
}

/** Locks the payments, the customer, the purchase and the invoice, in the order in which all code locks them. */
export async function lockDecided(
  { sql, providerId }: UnitOfWork,
  invoiceRef: string,
): Promise<DecidedInvoice | undefined> {
  const found = await findInvoice(sql, providerId, invoiceRef)
  if (found === undefined) return undefined
  const paidIntent = await lockPaidIntentOfInvoice(sql, providerId, invoiceRef)
  await lockIntentOfInvoice(sql, providerId, invoiceRef)
  const { purchaseRef, customerRef } = found
  const customer = await lockCustomer(sql, providerId, customerRef)
  const purchase =
    purchaseRef === null ? undefined : await lockPurchase(sql, providerId, purchaseRef)
  const invoice = await lockInvoice(sql, providerId, invoiceRef)
  if (invoice === undefined) return undefined
  const lines = await listLines(sql, providerId, invoiceRef)
  const period = await findRecurringPeriod(sql, providerId, invoiceRef)
  const startsPeriod =
    invoice.status === 'open' &&
    purchase !== undefined &&
    period !== undefined &&
    !isPeriodObsolete(purchase, period)
  const isCustomerDeleted = customer === undefined
  const rows = { invoice: { ...invoice, lines }, purchase, paidIntent }
  return { ...rows, period, startsPeriod, isCustomerDeleted }
}
