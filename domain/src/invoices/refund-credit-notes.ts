import { creditNoteVoided } from '../money-ledger/postings.ts'
import { postMoney } from '../money-ledger/post-money.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import {
  issueCreditNote,
  listCreditNotes,
  markCreditNoteVoid,
  toCreditNotePosting,
  sumCredited,
} from './credit-notes.ts'
import { readCreditedLater } from './credited-later.ts'
import { decideRefundCredit } from './decide-refund-credit.ts'
import type { Invoice } from './invoice.ts'
import { listLines } from './lines.ts'

/**
 * Issues the credit note of a refund that succeeded, in the transaction that records the refund. The caller has locked
 * the invoice's row and moved the invoice. Issues at most one note per refund, and none for an amount that an earlier
 * note with `settles: 'refund'` already covers.
 */
export async function issueRefundCreditNote(
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
  const { creditableByPeriod } = await readCreditedLater(sql, providerId, whole)
  const credit = decideRefundCredit({
    invoice: whole,
    creditableByPeriod,
    credited: await sumCredited(sql, providerId, invoice.reference),
    amountMinor: amountMinor < openMinor ? amountMinor : openMinor,
  })
  if (credit === undefined) return
  await issueCreditNote(work, whole, credit, { settles: 'refund', reason: 'Refund', refundRef })
}

/** Voids the credit note of a refund that failed or came back. The note keeps its number. */
export async function voidRefundCreditNote(
  work: UnitOfWork,
  invoice: Invoice,
  refundRef: string,
): Promise<void> {
  const { sql, providerId, now } = work
  const notes = await listCreditNotes(sql, providerId, invoice.reference)
  const note = notes.find((each) => each.refundRef === refundRef && each.voidedAt === null)
  if (note === undefined) return
  const lines = await listLines(sql, providerId, invoice.reference)
  await postMoney(work, creditNoteVoided(toCreditNotePosting(note, lines)))
  await markCreditNoteVoid(sql, providerId, note.reference, now)
}
