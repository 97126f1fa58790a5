import type { Seller } from '../invoices/parties.ts'
import { billUsage } from '../billing/bill-usage.ts'
import type { ChargeInvoice } from '../charging/charge-invoice.ts'
import { billItems } from './bill-items.ts'
import { applyChargeOutcome } from '../charging/apply-charge-outcome.ts'
import { findReusablePaymentMethod } from '../cards/repository.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { dueMinor } from '../invoices/transitions.ts'
import type { PaymentParts } from '../payments/payment-parts.ts'
import type { Operation } from '../unit-of-work/unit-of-work.ts'
import type { UnbilledUsage } from './measure-unbilled.ts'
import { readOpenInvoices } from './open-amounts.ts'

/** Reason why an amount could not be charged. */
export type UnchargedReason =
  /** The customer's bank or the processor declined the card. */
  | 'declined'
  | 'no_card'
  /** A payment is in progress, or the processor did not answer. */
  | 'processing'
  /** A person must decide how the invoice is paid. */
  | 'held'
  /** The amount is below the processor's minimum. */
  | 'below_minimum'

export type Uncharged = {
  /** Null for an amount that was carried over to the next invoice. */
  readonly invoiceRef: string | null
  readonly amountMinor: bigint
  readonly currency: string
  readonly reason: UnchargedReason
}

export type BillNowParts = Pick<PaymentParts, 'database' | 'commit'> & {
  /** Undefined if no payment processor is configured. */
  readonly charge: ChargeInvoice | undefined
}

/**
 * Invoices usage and items that are not billed yet, and charges the customer's card for all open invoices. Returns the amounts
 * that could not be charged, which is empty if everything is paid. Returns 'changed' if another process has billed some
 * of the usage in the meantime.
 *
 * Each bill and each charge commits separately, like those of the billing runner. After a crash in between, the issued
 * bills are open invoices, which the next call or the runner charges once. Billed usage is not found again.
 */
export async function billNow(
  parts: BillNowParts,
  operation: Operation,
  customerRef: string,
  unbilled: readonly UnbilledUsage[],
  seller: Seller,
): Promise<readonly Uncharged[] | 'changed'> {
  for (const { toBill, measured } of unbilled) {
    const billed = await parts.commit(operation, (work) =>
      billUsage(work, toBill, measured, seller, 'alone'),
    )
    if (billed.kind === 'changed') return 'changed'
  }
  await parts.commit(operation, (work) => billItems(work, customerRef, seller))
  const { invoices } = await readOpen(parts, operation, customerRef)
  const reasons = new Map<string, UnchargedReason>()
  for (const invoice of invoices) {
    const reason = await chargeNow(parts, operation, invoice)
    if (reason === undefined) continue
    reasons.set(invoice.reference, reason)
    // A failed charge stops the deletion, so no other invoice is charged for it.
    break
  }
  const left = await readOpen(parts, operation, customerRef)
  const [first] = reasons.values()
  const uncharged = left.invoices.map((invoice) => ({
    invoiceRef: invoice.reference,
    amountMinor: dueMinor(invoice),
    currency: invoice.currency,
    reason: reasons.get(invoice.reference) ?? first ?? 'processing',
  }))
  const tooLittle = [...left.carried]
    .filter(([, amountMinor]) => amountMinor > 0n)
    .map(([currency, amountMinor]) => ({
      ...{ invoiceRef: null, amountMinor, currency },
      reason: 'below_minimum' as const,
    }))
  return [...uncharged, ...tooLittle]
}

function readOpen({ database }: BillNowParts, operation: Operation, customerRef: string) {
  const { providerId, environment } = operation
  const rows = database.of(providerId).in(environment)
  return rows.read((sql) => readOpenInvoices(sql, providerId, customerRef))
}

/**
 * Charges the customer's card for the amount due, outside of the retry schedule: a failure is not counted. Returns undefined if the
 * invoice is paid.
 */
export async function chargeNow(
  { charge, commit, database }: BillNowParts,
  operation: Operation,
  invoice: Invoice,
): Promise<UnchargedReason | undefined> {
  if (invoice.isHeld) return 'held'
  if (charge === undefined) return 'no_card'
  const { environment, providerId, now } = operation
  const { reference: invoiceRef, customerRef, purchaseRef, currency } = invoice
  const payer = { environment, providerId, customerRef, purchaseRef }
  const request = { ...payer, invoiceRef, currency, now, isOffSchedule: true } as const
  const outcome = await charge({ ...request, amountMinor: dueMinor(invoice) }, (body) =>
    commit(operation, body),
  )
  switch (outcome.kind) {
    case 'booked':
      return undefined
    case 'paid':
      await commit(operation, (work) => applyChargeOutcome(work, invoiceRef, outcome, noRetries))
      return undefined
    case 'pending':
      return 'processing'
    case 'declined': {
      const rows = database.of(providerId).in(environment)
      const card = await rows.read((sql) => findReusablePaymentMethod(sql, providerId, customerRef))
      return card === undefined ? 'no_card' : 'declined'
    }
  }
}

/** Retry delays for paid invoices, for which no failure is counted. */
const noRetries = { hours: [], jitterMs: 0 } as const satisfies Parameters<
  typeof applyChargeOutcome
>[3]
