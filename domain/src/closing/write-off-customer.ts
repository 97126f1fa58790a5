import { addCarried, listCarried } from '../invoices/carried-amounts.ts'
import { listOpenInvoices } from '../invoices/debts.ts'
import { lockInvoice } from '../invoices/repository.ts'
import { writeOffInvoice } from '../invoices/settle-invoice.ts'
import { dueMinor } from '../invoices/transitions.ts'
import { carriedWrittenOff, usageWrittenOff } from '../money-ledger/deleted-customer-postings.ts'
import { postMoney } from '../money-ledger/post-money.ts'
import { withdrawIntentOfInvoice } from '../payments/intents-repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { UnbilledUsage } from './measure-unbilled.ts'

/* Writes off what a customer owes, in the transaction that deletes the customer. The caller has locked the customer. */

/** Posts uninvoiced usage as written off, so that the ledger shows its value. The audit log names each posting. */
export async function writeOffUsage(
  work: UnitOfWork,
  customerRef: string,
  unbilled: readonly UnbilledUsage[],
): Promise<void> {
  for (const { toBill, amountMinor } of unbilled) {
    if (amountMinor <= 0n) continue
    const { purchase, period } = toBill
    const part = `${purchase.reference}:${period?.start.toISOString() ?? 'late'}`
    const { currency } = purchase
    await postMoney(work, usageWrittenOff({ customerRef, part, currency, amountMinor }))
  }
}

/**
 * Makes the open invoices uncollectible and writes off amounts carried over to the next invoice. Call this after the
 * purchases have ended: the prices of their next periods are void or credited by then. If a cancelled payment succeeds
 * after all, its money pays the invoice.
 */
export async function writeOffInvoices(work: UnitOfWork, customerRef: string): Promise<void> {
  const { sql, providerId, now } = work
  for (const reference of await listOpenInvoices(sql, providerId, customerRef)) {
    await withdrawIntentOfInvoice(sql, providerId, reference, now)
    const invoice = await lockInvoice(sql, providerId, reference)
    if (invoice?.status === 'open' && dueMinor(invoice) > 0n) await writeOffInvoice(work, invoice)
  }
  for (const [currency, amountMinor] of await listCarried(sql, providerId, customerRef)) {
    if (amountMinor <= 0n) continue
    await postMoney(work, carriedWrittenOff({ customerRef, part: currency, currency, amountMinor }))
    await addCarried(sql, providerId, { customerRef, currency }, -amountMinor, now)
  }
}
