import { invoiceLine, totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import type { LineInputs } from '../pricing/line-inputs.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { sumPaidOut } from '../invoices/balance-entries.ts'
import { readCarriedAndHeld } from '../invoices/carried-amounts.ts'
import { documentNumberText, type Invoice } from '../invoices/invoice.ts'
import { issueInvoice } from '../invoices/issue-invoice.ts'
import { listLines } from '../invoices/lines.ts'
import { createDraft } from '../invoices/create-draft.ts'
import { listInvoices } from '../invoices/repository.ts'

/**
 * Reverses what a change of plan carried over to the customer's next invoice, a credit or an amount too small to charge, because
 * the payment on which the change was based was refunded. An invoice with the opposite lines, which name the first invoice, settles
 * it at once. Amounts that a later invoice has already taken over stay there. A credit that was paid out is money that the customer
 * has, and an open payment may use a credit that it holds, so both are reversed all the same, and the next invoice charges them.
 */
export async function reverseProration(
  work: UnitOfWork,
  { reference, customerRef, currency, planSnapshot }: Purchase,
): Promise<void> {
  const { sql, providerId } = work
  const page = { limit: 100, offset: 0 }
  const { invoices } = await listInvoices(sql, providerId, { purchaseRef: reference }, page)
  for (const invoice of invoices.filter(isFullyCarriedOver)) {
    const lines = await listLines(sql, providerId, invoice.reference)
    if (!lines.some(({ inputs }) => inputs.kind === 'proration')) continue
    const ownMinor = totalOf(lines.filter(({ inputs }) => inputs.kind !== 'carried_in'))
    const of = { customerRef, currency }
    const waitingMinor = await readCarriedAndHeld(sql, providerId, of)
    const paidOutMinor = await sumPaidOut(sql, providerId, of, invoice.createdAt)
    if (!covers(waitingMinor - paidOutMinor, ownMinor)) continue
    const request = { customerRef, purchaseRef: reference, planSnapshot, currency }
    const note = `taken back from ${documentNumberText('invoice', invoice.number!, work.environment)}`
    const back = lines.flatMap((line) => reversedLines(line, note))
    const draft = await createDraft(work, { ...request, lines: back, claims: [] })
    if (draft.kind !== 'created') throw new Error(`a change to ${reference} claims no period`)
    await issueInvoice(work, draft.invoice, invoice.parties!)
  }
}

function isFullyCarriedOver({ status, carriedMinor, paidMinor }: Invoice): boolean {
  return status === 'paid' && carriedMinor !== 0n && paidMinor === 0n
}

/** Returns whether at least this amount, with the same sign, is still carried over. */
function covers(waitingMinor: bigint, amountMinor: bigint): boolean {
  return amountMinor < 0n ? waitingMinor <= amountMinor : waitingMinor >= amountMinor
}

/** Returns the line with the opposite amount. Tax is calculated again from the lines. */
function reversedLines({ inputs, description, period }: InvoiceLine, note: string): InvoiceLine[] {
  const reversed = reversedInputs(inputs)
  return reversed === undefined ? [] : [invoiceLine(reversed, `${description}, ${note}`, period)]
}

function reversedInputs(inputs: LineInputs): LineInputs | undefined {
  switch (inputs.kind) {
    case 'proration':
      return changedBack(inputs)
    case 'discount':
      return inputs.by === 'proration' ? changedBack(inputs) : undefined
    case 'setup_fee':
      return { ...inputs, amountMinor: (-BigInt(inputs.amountMinor)).toString() }
    default:
      return undefined
  }
}

/** Returns the inputs of the change from the new price back to the old one. */
function changedBack<Change extends { readonly oldMinor: string; readonly newMinor: string }>(
  change: Change,
): Change {
  return { ...change, oldMinor: change.newMinor, newMinor: change.oldMinor }
}
