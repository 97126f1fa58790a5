import { usageKinds } from '../coupons/discount-lines.ts'
import { listPartBilledPurchases } from '../invoices/billed-periods.ts'
import { creditInvoice, sumCredited } from '../invoices/credit-notes.ts'
import { readCreditedLater } from '../invoices/credited-later.ts'
import { creditOpenInvoice } from '../invoices/credit-open-invoice.ts'
import type { CreditedLine } from '../invoices/decide-credit.ts'
import { listLines } from '../invoices/lines.ts'
import { listInvoices, lockInvoice } from '../invoices/repository.ts'
import type { InvoiceWithLines } from '../invoices/invoice.ts'
import { requestCancelOfInvoice } from '../payments/intents-repository.ts'
import { sumPendingRefunds } from '../payments/refunds-repository.ts'
import { totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

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
  const usage = [...invoice.lines.entries()].filter(([, line]) => isUsage(line))
  // A line can be a credit itself, for example because a pack was bought. The other lines are credited less by it.
  let leftMinor = totalOf(usage.map(([, line]) => line))
  // A bill within a period charges only usage, so all of its discounts are discounts of usage.
  leftMinor += totalOf(invoice.lines.filter(({ inputs }) => inputs.kind === 'discount'))
  for (const [at] of usage) leftMinor -= credited.get(at) ?? 0n
  leftMinor -= (await readCreditedLater(work.sql, work.providerId, invoice)).amountMinor
  // Once they succeed, the customer would have this amount twice.
  leftMinor -= await sumPendingRefunds(work.sql, work.providerId, reference)
  const lines: CreditedLine[] = []
  for (const [line, { amountMinor: chargedMinor }] of usage) {
    const ownMinor = chargedMinor - (credited.get(line) ?? 0n)
    const amountMinor = ownMinor < leftMinor ? ownMinor : leftMinor
    if (amountMinor <= 0n) continue
    lines.push({ line, amountMinor })
    leftMinor -= amountMinor
  }
  if (lines.length === 0) return
  const credit = { lines, reason: 'the change of plan was undone' }
  if (invoice.status === 'open') return creditOpenInvoice(work, invoice, credit, 'undone')
  const outcome = await creditInvoice(work, invoice, { ...credit, settles: 'balance' })
  if (outcome.kind !== 'credited') {
    throw new Error(`invoice ${reference} could not be credited: ${outcome.kind}`)
  }
}

/** Returns whether the line charges usage. A line of the plan's minimum does, because it charges the rest up to the minimum. */
function isUsage({ inputs }: InvoiceLine): boolean {
  return usageKinds.has(inputs.kind)
}
