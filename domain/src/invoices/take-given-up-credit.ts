import { givenUpFromBalance } from '../money-ledger/balance-postings.ts'
import {
  listTakenFromBalance,
  sumTakenFromBalance,
  sumTakenOfGivenUp,
} from '../money-ledger/ledger.ts'
import { atLeastZero } from '../money/amounts.ts'
import { divideRounded } from '../money/decimal.ts'
import { totalTaxMinor } from '../pricing/tax-line.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { creditsIn, netIn, periodsOf } from './bill-of-usage.ts'
import { sumCredited, sumCreditedToBalance } from './credit-notes.ts'
import { readCreditedLater } from './credited-later.ts'
import { decideCreditedLater, type CreditedLater } from './decide-credited-later.ts'
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
  const lines = await listLines(sql, providerId, invoice.reference)
  const given = { ...invoice, lines }
  await takeCredit(work, given, await readCreditedLater(sql, providerId, given))
}

/** Returns the amount that was taken, negative if it was given back. */
async function takeCredit(
  work: UnitOfWork,
  invoice: InvoiceWithLines,
  later: CreditedLater,
): Promise<bigint> {
  const { sql, providerId } = work
  const { reference: invoiceRef, customerRef, currency, lines } = invoice
  const allTakenMinor = await sumTakenFromBalance(sql, providerId, invoiceRef)
  const taken = await sumTakenOfGivenUp(sql, providerId, invoiceRef)
  if (later.amountMinor === 0n && allTakenMinor === 0n && taken.amountMinor === 0n) return 0n
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
  if (amountMinor === 0n) return 0n
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
  return amountMinor
}

/**
 * Gives back what was taken from the balance for credits that have become void with the invoice that held them. The caller has locked the
 * purchase, and has voided the invoice in the same transaction. The credited invoices are not locked: whatever takes credit for them
 * locks the purchase too. All bills are read once, because a purchase can have hundreds.
 */
export async function returnVoidedCredits(
  work: UnitOfWork,
  { purchaseRef, lines }: InvoiceWithLines,
): Promise<void> {
  const { sql, providerId } = work
  const holder = { lines }
  const starts = periodsOf(holder).filter((start) => netIn(holder, start) < 0n)
  if (purchaseRef === null || starts.length === 0) return
  const dates = starts.map((start) => new Date(start))
  const bills = await listBillsOfUsage(sql, providerId, purchaseRef, dates)
  const charging = bills.filter((bill) => starts.some((start) => netIn(bill, start) > 0n))
  const references = charging.map(({ reference }) => reference)
  const taken = await listTakenFromBalance(sql, providerId, references)
  for (const [at, bill] of bills.entries()) {
    if (!taken.has(bill.reference)) continue
    const credited = await findInvoice(sql, providerId, bill.reference)
    if (credited === undefined) throw new Error(`invoice ${bill.reference} is gone`)
    const later = decideCreditedLater(bill.reference, bills)
    const amountMinor = await takeCredit(work, { ...credited, lines: bill.lines }, later)
    // The other bills count what this one has taken by now.
    bills[at] = { ...bill, takenMinor: bill.takenMinor + amountMinor }
  }
}
