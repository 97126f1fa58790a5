import { creditNoteVoided } from '../money-ledger/postings.ts'
import { postMoney } from '../money-ledger/post-money.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import {
  issueCreditNote,
  listCreditNotes,
  markNoteVoid,
  notePosting,
  sumCredited,
} from './credit-notes.ts'
import { decideRefundCredit } from './decide-refund-credit.ts'
import type { Invoice } from './invoice.ts'
import { listLines } from './lines.ts'

/**
 * Writes the credit note of money that was paid back, in the transaction that says so, of an invoice whose row the caller
 * has locked and moved: a refund that somebody has written one for before has none besides. Once for each refund.
 */
export async function creditRefund(
  work: UnitOfWork,
  invoice: Invoice,
  refundRef: string,
  amountMinor: bigint,
): Promise<void> {
  const { sql, providerId } = work
  const notes = await listCreditNotes(sql, providerId, invoice.reference)
  if (notes.some((note) => note.refundRef === refundRef)) return
  const creditedMinor = notes
    .filter(({ settles, voidedAt }) => settles === 'refund' && voidedAt === null)
    .reduce((sum, note) => sum + note.totalMinor, 0n)
  const openMinor = invoice.refundedMinor - creditedMinor
  if (openMinor <= 0n) return
  const lines = await listLines(sql, providerId, invoice.reference)
  const whole = { ...invoice, lines }
  const credit = decideRefundCredit({
    invoice: whole,
    credited: await sumCredited(sql, providerId, invoice.reference),
    amountMinor: amountMinor < openMinor ? amountMinor : openMinor,
  })
  if (credit === undefined) return
  await issueCreditNote(work, whole, credit, { settles: 'refund', reason: 'Refund', refundRef })
}

/** The refund did not arrive, or came back: its credit note takes nothing back any more. Its number stays given. */
export async function voidCreditOfRefund(
  work: UnitOfWork,
  invoice: Invoice,
  refundRef: string,
): Promise<void> {
  const { sql, providerId, now } = work
  const notes = await listCreditNotes(sql, providerId, invoice.reference)
  const note = notes.find((each) => each.refundRef === refundRef && each.voidedAt === null)
  if (note === undefined) return
  const lines = await listLines(sql, providerId, invoice.reference)
  await postMoney(work, creditNoteVoided(notePosting(note, lines)))
  await markNoteVoid(sql, providerId, note.reference, now)
}
