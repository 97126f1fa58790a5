import {
  invoiceCarried,
  invoiceIssued,
  type IssuedInvoice,
  type SoldAs,
} from '../money-ledger/postings.ts'
import { postMoney } from '../money-ledger/post-money.ts'
import { pipelined } from '../postgres/pipelined.ts'
import { decideDue } from '../pricing/decide-due.ts'
import { totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import { totalTaxMinor } from '../pricing/tax-line.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { addCarried } from './carried-amounts.ts'
import type { Invoice, InvoiceParties, InvoiceWithLines } from './invoice.ts'
import { movedInvoice } from './move-invoice.ts'
import { storeIssued, updateInvoice } from './repository.ts'

/**
 * Issues a draft whose row the caller has locked or has just created. From here on the invoice is owed and posted to
 * the ledger. A credit, or an amount that is too small to be charged, is carried over to the customer's next invoice at
 * once. The number is taken last: its row stays locked until the transaction ends, and a transaction that holds it must
 * not wait for another lock. `dueAt`: when it is to be paid and charged; null if it is due now.
 */
export async function issueInvoice(
  work: UnitOfWork,
  draft: InvoiceWithLines,
  parties: InvoiceParties,
  dueAt: Date | null = null,
): Promise<InvoiceWithLines> {
  const { now } = work
  const { carriedMinor, isHeld } = decideDue(draft.totalMinor, draft.currency)
  // The caller charges an invoice that is due now. This scheduled charge is the fallback if its process dies before.
  const nextChargeAt = isHeld ? null : (dueAt ?? new Date(now.getTime() + firstChargeMs))
  const whole = { ...draft, parties, issuedAt: now, dueAt, isHeld, nextChargeAt }
  const open = movedInvoice(whole, 'issued', 0n, now)
  const [, issued] = await pipelined([
    postMoney(work, invoiceIssued(toIssuedInvoice(draft))),
    carryOverAndNumber(work, open, carriedMinor),
  ])
  return issued
}

async function carryOverAndNumber(
  work: UnitOfWork,
  open: InvoiceWithLines,
  carriedMinor: bigint,
): Promise<InvoiceWithLines> {
  const settled =
    carriedMinor === 0n ? open : await postCarryOver(work, open, carriedMinor, 'issue')
  return { ...settled, number: await storeIssued(work.sql, work.providerId, settled) }
}

const firstChargeMs = 600_000

/**
 * Carries an amount due, or a credit, over to the customer's next invoice. This also covers amounts that the processor
 * refuses as too small although our table of minimum amounts allows them. `step` is part of the posting's key and
 * distinguishes several such moves of one invoice.
 */
export async function carryOver<Kept extends Invoice>(
  work: UnitOfWork,
  invoice: Kept,
  amountMinor: bigint,
  step: string,
): Promise<Kept> {
  const carried = await postCarryOver(work, invoice, amountMinor, step)
  await updateInvoice(work.sql, work.providerId, carried)
  return carried
}

async function postCarryOver<Kept extends Invoice>(
  work: UnitOfWork,
  invoice: Kept,
  amountMinor: bigint,
  step: string,
): Promise<Kept> {
  const { reference: invoiceRef, customerRef, currency } = invoice
  const carried = movedInvoice(invoice, 'carried', amountMinor, work.now)
  await postMoney(work, invoiceCarried({ invoiceRef, customerRef, currency, amountMinor, step }))
  await addCarried(work.sql, work.providerId, { customerRef, currency }, amountMinor, work.now)
  return carried
}

/** Credits are never sold on an invoice with anything else, so one line of credits makes the whole invoice prepaid. */
export function soldAs(lines: readonly InvoiceLine[]): SoldAs {
  return lines.some(({ inputs }) => inputs.kind === 'credits') ? 'prepaid' : 'revenue'
}

/** Returns the ledger posting of an issued invoice. */
export function toIssuedInvoice({
  reference,
  customerRef,
  currency,
  lines,
}: InvoiceWithLines): IssuedInvoice {
  const carriedIn = lines.filter(({ inputs }) => inputs.kind === 'carried_in')
  const charged = lines.filter(({ inputs }) => inputs.kind !== 'carried_in')
  return {
    sells: soldAs(lines),
    reference,
    customerRef,
    currency,
    chargedMinor: totalOf(charged),
    taxMinor: totalTaxMinor(lines),
    carriedInMinor: totalOf(carriedIn),
  }
}
