import { listPartBilledPurchases } from '../invoices/billed-periods.ts'
import { creditInvoice, sumCredited } from '../invoices/credit-notes.ts'
import { readCreditedLater } from '../invoices/credited-later.ts'
import { creditOpenInvoice } from '../invoices/credit-open-invoice.ts'
import { listLines } from '../invoices/lines.ts'
import { listInvoices, lockInvoice } from '../invoices/repository.ts'
import type { InvoiceWithLines } from '../invoices/invoice.ts'
import { requestCancelOfInvoice } from '../payments/intents-repository.ts'
import { sumPendingRefunds } from '../payments/refunds-repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { decideUndoneUsage, isUsage } from './decide-undone-usage.ts'

/** Upper limit on the invoices of one purchase. With more, its usage stays with it. */
const invoicesMax = 1_000

/**
 * Credits what bills within the running period have charged for usage of purchases whose change of plan is undone. The restored
 * purchase then bills that usage with its own, so that usage until the end of the period is neither billed twice nor lost. What an
 * open invoice charges for usage is no longer due; a payment of it that succeeds after all is refunded, because its amount is not the
 * one that is due. Returns false and credits nothing if usage must stay with one of the purchases: its period was billed to the end, or
 * an invoice was given up. The caller has locked the customer.
 */
export async function creditUndoneUsage(
  work: UnitOfWork,
  undone: readonly string[],
): Promise<boolean> {
  const { sql, providerId, now } = work
  const purchaseRefs = await listPartBilledPurchases(sql, providerId, undone)
  if (purchaseRefs === undefined) return false
  const bills = await listUsageBills(work, purchaseRefs)
  if (bills === undefined) return false
  const billed: InvoiceWithLines[] = []
  for (const { reference, status, lines } of bills) {
    // Payments are locked before their invoice, as when a payment succeeds.
    if (status === 'open') await requestCancelOfInvoice(sql, providerId, reference, now)
    const invoice = (await lockInvoice(sql, providerId, reference))!
    if (!creditableStatuses.has(invoice.status)) return false
    billed.push({ ...invoice, lines })
  }
  for (const invoice of billed) await creditUsage(work, invoice)
  return true
}

/** Returns the invoices with usage. Undefined if one of them cannot be credited. */
async function listUsageBills(
  { sql, providerId }: UnitOfWork,
  purchaseRefs: readonly string[],
): Promise<InvoiceWithLines[] | undefined> {
  const bills: InvoiceWithLines[] = []
  for (const purchaseRef of purchaseRefs) {
    const page = { limit: invoicesMax, offset: 0 }
    const { invoices, total } = await listInvoices(sql, providerId, { purchaseRef }, page)
    if (total > invoicesMax) return undefined
    for (const invoice of invoices) {
      const lines = await listLines(sql, providerId, invoice.reference)
      if (!lines.some(isUsage)) continue
      if (!creditableStatuses.has(invoice.status)) return undefined
      bills.push({ ...invoice, lines })
    }
  }
  return bills
}

const creditableStatuses: ReadonlySet<string> = new Set([
  'open',
  'paid',
  'partly_refunded',
  'refunded',
])

/**
 * Credits the usage of an invoice, as far as it is not credited or refunded yet. What was paid is credited to the customer's next
 * invoice.
 */
async function creditUsage(work: UnitOfWork, invoice: InvoiceWithLines): Promise<void> {
  const { reference } = invoice
  const credited = await sumCredited(work.sql, work.providerId, reference)
  const lines = decideUndoneUsage({
    ...{ lines: invoice.lines, credited },
    later: await readCreditedLater(work.sql, work.providerId, invoice),
    pendingMinor: await sumPendingRefunds(work.sql, work.providerId, reference),
  })
  if (lines.length === 0) return
  const credit = { lines, reason: 'the change of plan was undone' }
  if (invoice.status === 'open') return creditOpenInvoice(work, invoice, credit, 'undone')
  const outcome = await creditInvoice(work, invoice, { ...credit, settles: 'balance' })
  if (outcome.kind !== 'credited') {
    throw new Error(`invoice ${reference} could not be credited: ${outcome.kind}`)
  }
}
