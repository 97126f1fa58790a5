import { givenUpFromBalance } from '../money-ledger/balance-postings.ts'
import { sumTakenOfGivenUp } from '../money-ledger/ledger.ts'
import { divideRounded } from '../money/decimal.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { sumCredited } from './credit-notes.ts'
import { readCreditedLater } from './credited-later.ts'
import { decideGivenUpCredit } from './decide-given-up-credit.ts'
import { sumCharged } from './decide-refund-credit.ts'
import type { Invoice } from './invoice.ts'
import { listLines } from './lines.ts'
import { moveBalance } from './move-balance.ts'

/**
 * Takes from the customer's balance what later bills have credited of the usage of an invoice that was voided or written off, as far as
 * the customer would have it besides what is given up. Gives back what was taken as far as the invoice is paid after all. The amount
 * follows from the invoice and the credits, so the function can be called again. The caller has locked the purchase and the invoice,
 * and has moved the invoice in the same transaction.
 */
export async function takeGivenUpCredit(work: UnitOfWork, invoice: Invoice): Promise<void> {
  const { sql, providerId } = work
  const { reference: invoiceRef, customerRef, currency } = invoice
  const lines = await listLines(sql, providerId, invoiceRef)
  const later = await readCreditedLater(sql, providerId, { ...invoice, lines })
  const taken = await sumTakenOfGivenUp(sql, providerId, invoiceRef)
  if (later.amountMinor === 0n && taken.amountMinor === 0n) return
  const charged = sumCharged(lines, await sumCredited(sql, providerId, invoiceRef))
  const wantedMinor = decideGivenUpCredit({
    ...charged,
    ...{ status: invoice.status, laterMinor: later.amountMinor, amounts: invoice },
  })
  const amountMinor = wantedMinor - taken.amountMinor
  if (amountMinor === 0n) return
  const taxMinor =
    later.amountMinor === 0n ? 0n : divideRounded(amountMinor * later.taxMinor, later.amountMinor)
  const number = taken.times + 1
  const of = { invoiceRef, customerRef, currency, number }
  const posting = givenUpFromBalance({ ...of, amountMinor, taxMinor })
  await moveBalance(work, invoice, posting, `given-up:${invoiceRef}:${number}`)
}
