import { givenUpFromBalance } from '../money-ledger/balance-postings.ts'
import { sumTakenFromBalance, sumTakenOfGivenUp } from '../money-ledger/ledger.ts'
import { atLeastZero } from '../money/amounts.ts'
import { divideRounded } from '../money/decimal.ts'
import { totalTaxMinor } from '../pricing/tax-line.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { creditsIn, netIn, periodsOf } from './bill-of-usage.ts'
import { sumCredited, sumCreditedToBalance } from './credit-notes.ts'
import { readCreditedLater } from './credited-later.ts'
import { decideGivenUpCredit } from './decide-given-up-credit.ts'
import { sumCharged } from './decide-refund-credit.ts'
import type { Invoice, InvoiceWithLines } from './invoice.ts'
import { listLines } from './lines.ts'
import { listBillsOfUsage } from './list-bills-of-usage.ts'
import { moveBalance } from './move-balance.ts'
import { findInvoice } from './repository.ts'

/**
 * Takes from the customer's balance what later bills have credited of the usage of an invoice that was voided or written off, as far as
 * the customer would have it besides what is given up. Gives back what was taken as far as the invoice is paid after all, or the bill
 * that held the credit is void. The amount follows from the invoice and the credits, so the function can be called again. The caller
 * has locked the purchase, and has moved the invoice in the same transaction.
 */
export async function takeGivenUpCredit(work: UnitOfWork, invoice: Invoice): Promise<void> {
  const { sql, providerId } = work
  const { reference: invoiceRef, customerRef, currency } = invoice
  const lines = await listLines(sql, providerId, invoiceRef)
  const later = await readCreditedLater(sql, providerId, { ...invoice, lines })
  const allTakenMinor = await sumTakenFromBalance(sql, providerId, invoiceRef)
  const taken = await sumTakenOfGivenUp(sql, providerId, invoiceRef)
  if (later.amountMinor === 0n && allTakenMinor === 0n && taken.amountMinor === 0n) return
  const toBalanceMinor = await sumCreditedToBalance(sql, providerId, invoiceRef)
  const charged = sumCharged(lines, await sumCredited(sql, providerId, invoiceRef))
  const held = creditsIn({ lines })
  const wantedMinor = decideGivenUpCredit({
    ...charged,
    ...{ status: invoice.status, laterMinor: later.amountMinor, lostMinor: later.lostMinor },
    heldMinor: held.amountMinor,
    repaidMinor: atLeastZero(allTakenMinor - taken.amountMinor - toBalanceMinor),
  })
  const amountMinor = wantedMinor - taken.amountMinor
  if (amountMinor === 0n) return
  // Credit that is given back for a void bill has the tax of the invoice's charges, because no credit is left that states another one.
  const [taxMinor, ofMinor] =
    wantedMinor > 0n
      ? [later.taxMinor, later.amountMinor]
      : [totalTaxMinor(lines) + held.taxMinor, charged.chargedMinor + held.amountMinor]
  const wantedTaxMinor = ofMinor === 0n ? 0n : divideRounded(wantedMinor * taxMinor, ofMinor)
  const number = taken.times + 1
  const posting = givenUpFromBalance({
    ...{ invoiceRef, customerRef, currency, number, amountMinor },
    taxMinor: wantedTaxMinor - taken.taxMinor,
  })
  await moveBalance(work, invoice, posting, `given-up:${invoiceRef}:${number}`)
}

/**
 * Gives back what was taken from the balance for credits that have become void with the invoice that held them. The caller has locked the
 * purchase, and has voided the invoice in the same transaction. The credited invoices are not locked: whatever takes credit for them
 * locks the purchase too.
 */
export async function returnVoidedCredits(
  work: UnitOfWork,
  { purchaseRef, lines }: InvoiceWithLines,
): Promise<void> {
  const { sql, providerId } = work
  const bill = { lines }
  const starts = periodsOf(bill).filter((start) => netIn(bill, start) < 0n)
  if (purchaseRef === null || starts.length === 0) return
  const dates = starts.map((start) => new Date(start))
  for (const each of await listBillsOfUsage(sql, providerId, purchaseRef, dates)) {
    if (!starts.some((start) => netIn(each, start) > 0n)) continue
    const credited = await findInvoice(sql, providerId, each.reference)
    if (credited !== undefined) await takeGivenUpCredit(work, credited)
  }
}
