import { listPartBilledPurchases } from '../invoices/billed-periods.ts'
import { creditInvoice, sumCredited } from '../invoices/credit-notes.ts'
import type { CreditedLine } from '../invoices/decide-credit.ts'
import { listLines } from '../invoices/lines.ts'
import { listInvoices, lockInvoice } from '../invoices/repository.ts'
import type { InvoiceWithLines } from '../invoices/invoice.ts'
import { totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/** Upper limit on the invoices of one purchase. With more, its usage stays with it. */
const invoicesMax = 1_000

/**
 * Credits what bills within the running period have charged for usage of purchases whose change of plan is undone. The restored
 * purchase then bills that usage with its own, so that usage until the end of the period is neither billed twice nor lost. Returns
 * false and credits nothing if usage must stay with one of the purchases: its period was billed to the end, or an invoice is not
 * settled and its charge can still succeed or was given up. The caller has locked the customer.
 */
export async function creditUndoneUsage(
  work: UnitOfWork,
  undone: readonly string[],
): Promise<boolean> {
  const { sql, providerId } = work
  const purchaseRefs = await listPartBilledPurchases(sql, providerId, undone)
  if (purchaseRefs === undefined) return false
  const billed: InvoiceWithLines[] = []
  for (const purchaseRef of purchaseRefs) {
    const page = { limit: invoicesMax, offset: 0 }
    const { invoices, total } = await listInvoices(sql, providerId, { purchaseRef }, page)
    if (total > invoicesMax) return false
    for (const { reference } of invoices) {
      const lines = await listLines(sql, providerId, reference)
      if (!lines.some(isUsage)) continue
      const invoice = (await lockInvoice(sql, providerId, reference))!
      if (!settledStatuses.has(invoice.status)) return false
      billed.push({ ...invoice, lines })
    }
  }
  for (const invoice of billed) await creditUsage(work, invoice)
  return true
}

const settledStatuses: ReadonlySet<string> = new Set(['paid', 'partly_refunded', 'refunded'])

/** Credits the usage of a settled invoice to the customer's next invoice, as far as it is not credited or refunded yet. */
async function creditUsage(work: UnitOfWork, invoice: InvoiceWithLines): Promise<void> {
  const { reference } = invoice
  const credited = await sumCredited(work.sql, work.providerId, reference)
  const usage = [...invoice.lines.entries()].filter(([, line]) => isUsage(line))
  // A line can be a credit itself, for example because a pack was bought. The other lines are credited less by it.
  let leftMinor = totalOf(usage.map(([, line]) => line))
  for (const [at] of usage) leftMinor -= credited.get(at) ?? 0n
  const lines: CreditedLine[] = []
  for (const [line, { amountMinor: chargedMinor }] of usage) {
    const ownMinor = chargedMinor - (credited.get(line) ?? 0n)
    const amountMinor = ownMinor < leftMinor ? ownMinor : leftMinor
    if (amountMinor <= 0n) continue
    lines.push({ line, amountMinor })
    leftMinor -= amountMinor
  }
  if (lines.length === 0) return
  const credit = { lines, reason: 'the change of plan was undone', settles: 'balance' } as const
  const outcome = await creditInvoice(work, invoice, credit)
  if (outcome.kind !== 'credited') {
    throw new Error(`invoice ${reference} could not be credited: ${outcome.kind}`)
  }
}

function isUsage({ inputs }: InvoiceLine): boolean {
  return inputs.kind === 'usage' || inputs.kind === 'late_usage'
}
