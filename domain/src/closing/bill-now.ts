import type { Seller } from '../billing/bill-recurring.ts'
import { billUsage } from '../billing/bill-usage.ts'
import type { ChargeInvoice } from '../charging/charge-invoice.ts'
import { settleCharge } from '../charging/settle-charge.ts'
import { findReusablePaymentMethod } from '../cards/repository.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { dueMinor } from '../invoices/transitions.ts'
import type { PaymentParts } from '../payments/payment-parts.ts'
import type { Operation } from '../unit-of-work/unit-of-work.ts'
import type { UnbilledUsage } from './measure-unbilled.ts'
import { readOpenInvoices } from './open-amounts.ts'

/** Why an amount could not be charged. */
export type UnchargedReason =
  /** The customer's card, or the processor, has refused it. */
  | 'declined'
  | 'no_card'
  /** A payment of it is under way, or the processor did not answer. */
  | 'processing'
  /** It waits for a person to look at it. */
  | 'held'
  /** Too little for the processor. */
  | 'below_minimum'

export type Uncharged = {
  /** Null for what waited for the next invoice. */
  readonly invoiceRef: string | null
  readonly amountMinor: bigint
  readonly currency: string
  readonly reason: UnchargedReason
}

export type BillNowParts = Pick<PaymentParts, 'database' | 'commit'> & {
  /** Undefined: there is no payment processor. */
  readonly charge: ChargeInvoice | undefined
}

/**
 * Bills usage that is on no invoice yet, and charges the customer's card for all that is open. Returns what could not be
 * charged; nothing, if all is paid; or that somebody else has billed some of it meanwhile.
 *
 * Each bill commits by itself, and each charge does, as those of the billing runner do. Cut off in between, the bills that
 * were issued are open invoices, which the next call, or the runner, charges once; usage that was billed is not found again.
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
  const { invoices } = await readOpen(parts, operation, customerRef)
  const reasons = new Map<string, UnchargedReason>()
  for (const invoice of invoices) {
    const reason = await chargeNow(parts, operation, invoice)
    if (reason === undefined) continue
    reasons.set(invoice.reference, reason)
    // The deletion does not go on, so nothing else is charged for it.
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

/** Undefined: it is paid. */
async function chargeNow(
  { charge, commit, database }: BillNowParts,
  operation: Operation,
  invoice: Invoice,
): Promise<UnchargedReason | undefined> {
  if (invoice.isHeld) return 'held'
  if (charge === undefined) return 'no_card'
  const { environment, providerId, now } = operation
  const { reference: invoiceRef, customerRef, purchaseRef, currency } = invoice
  const payer = { environment, providerId, customerRef, purchaseRef }
  const asked = { ...payer, invoiceRef, currency, now, isOutOfTurn: true } as const
  const outcome = await charge({ ...asked, amountMinor: dueMinor(invoice) }, (body) =>
    commit(operation, body),
  )
  switch (outcome.kind) {
    case 'booked':
      return undefined
    case 'paid':
      await commit(operation, (work) => settleCharge(work, invoiceRef, outcome, noRetries))
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

/** Of an invoice that is paid no failure is counted. */
const noRetries = { hours: [], jitterMs: 0 } as const satisfies Parameters<typeof settleCharge>[3]
