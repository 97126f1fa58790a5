import { releasePeriods } from '../invoices/billed-periods.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { listLines } from '../invoices/lines.ts'
import { lockInvoice, updateInvoice } from '../invoices/repository.ts'
import { voidInvoice, writeOffInvoice } from '../invoices/settle-invoice.ts'
import { decideMove } from '../invoices/transitions.ts'
import { chargesUsage, listUnbegun } from '../invoices/unpaid.ts'
import { withdrawIntentOfInvoice } from './intents-repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { creditUnbegun } from '../invoices/credit-unbegun.ts'

/**
 * A purchase that ends, or is to end with its period, begins none any more: what was to be paid for the next one is not
 * charged. An invoice whose payment may still succeed is void once the processor says that it cannot; should it succeed
 * all the same, it is paid back. Usage stays owed, also on an invoice that charged both. The caller has locked the
 * purchase.
 */
export async function endCharges(work: UnitOfWork, purchaseRef: string): Promise<void> {
  const { sql, providerId, now } = work
  for (const reference of await listUnbegun(sql, providerId, purchaseRef)) {
    const isPayable = await withdrawIntentOfInvoice(sql, providerId, reference, now)
    const invoice = await lockInvoice(sql, providerId, reference)
    if (invoice?.status !== 'open') continue
    if (isPayable && !(await chargesUsage(sql, providerId, reference))) {
      await updateInvoice(sql, providerId, { ...invoice, nextChargeAt: null, updatedAt: now })
    } else {
      await dropUnbegun(work, invoice)
    }
  }
}

/**
 * Takes back what an open invoice charges for a period that will not begin, or not by it: all of it, or its part beside
 * usage, which is charged by another payment. Whoever goes on with the purchase is billed anew.
 */
export async function dropUnbegun(work: UnitOfWork, invoice: Invoice): Promise<Invoice> {
  const { sql, providerId } = work
  const { reference } = invoice
  const whole = { ...invoice, lines: await listLines(sql, providerId, reference) }
  const dropped = (await chargesUsage(sql, providerId, reference))
    ? await creditUnbegun(work, whole)
    : decideMove(invoice, 'voided').kind === 'moved'
      ? await voidInvoice(work, whole)
      : await writeOffInvoice(work, invoice)
  await releasePeriods(sql, providerId, reference)
  return dropped
}
