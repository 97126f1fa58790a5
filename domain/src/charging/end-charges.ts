import { releasePeriods } from '../invoices/billed-periods.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { listLines } from '../invoices/lines.ts'
import { lockInvoice, updateInvoice } from '../invoices/repository.ts'
import { voidInvoice, writeOffInvoice } from '../invoices/settle-invoice.ts'
import { decideMove } from '../invoices/transitions.ts'
import { listUnbegun } from '../invoices/unpaid.ts'
import { withdrawIntentOfInvoice } from '../payments/intents-repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/**
 * A purchase that ends, or is to end with its period, begins none any more: what was to be paid for the next one is not
 * charged. An invoice whose payment may still succeed is void once the processor says that it cannot; should it succeed
 * all the same, it is paid back. Usage stays owed. The caller has locked the purchase.
 */
export async function endCharges(work: UnitOfWork, purchaseRef: string): Promise<void> {
  const { sql, providerId, now } = work
  for (const reference of await listUnbegun(sql, providerId, purchaseRef)) {
    const isPayable = await withdrawIntentOfInvoice(sql, providerId, reference, now)
    const invoice = await lockInvoice(sql, providerId, reference)
    if (invoice?.status !== 'open') continue
    if (isPayable) {
      await updateInvoice(sql, providerId, { ...invoice, nextChargeAt: null, updatedAt: now })
    } else {
      await voidUnbegun(work, invoice)
    }
  }
}

/** The invoice of a period that will not begin, or not by it. Whoever goes on with the purchase is billed anew. */
export async function voidUnbegun(work: UnitOfWork, invoice: Invoice): Promise<void> {
  const { sql, providerId } = work
  const lines = await listLines(sql, providerId, invoice.reference)
  const isVoidable = decideMove(invoice, 'voided').kind === 'moved'
  if (isVoidable) await voidInvoice(work, { ...invoice, lines })
  else await writeOffInvoice(work, invoice)
  await releasePeriods(sql, providerId, invoice.reference)
}
