import type { Queryable } from '@tollgate/platform/database/database'
import { listLinesByInvoice } from '../invoices/lines.ts'
import { recomputeInvoice, type PriceDiscrepancy } from '../invoices/recompute-invoice.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import type { Tally } from './finding.ts'
import type { Scope } from './scope.ts'

type InvoiceRow = {
  provider_id: string
  reference: string
  total: string
  currency: string
  created_at: Date
}

/** Number of invoices held in memory with their lines. */
const invoicesAtOnce = 500

/** Calculates every invoice of the time again from the inputs stored with its lines. */
export async function reconcileInvoices(sql: Queryable, scope: Scope, tally: Tally): Promise<void> {
  let after: InvoiceRow | undefined
  do {
    scope.stopping?.throwIfAborted()
    const page = await listInvoicePage(sql, scope, after)
    const names = page.map((row) => ({ providerId: row.provider_id, reference: row.reference }))
    const linesOf = await listLinesByInvoice(sql, names)
    for (const row of page) {
      const { provider_id: providerId, reference, currency } = row
      const lines = linesOf.get(reference) ?? []
      tally.compared(providerId, 'invoice')
      const totalMinor = BigInt(row.total)
      const theirs = differencesOf({ lines, totalMinor }, currency)
      if (theirs === undefined) continue
      tally.found({
        providerId,
        kind: 'invoice',
        difference: 'differs',
        reference,
        ours: `${totalMinor} ${currency}`,
        theirs,
        since: row.created_at,
        isRepaired: false,
      })
    }
    after = page.length === invoicesAtOnce ? page.at(-1) : undefined
  } while (after !== undefined)
}

/** Returns the differences as text. Undefined if every amount matches to the minor unit. */
function differencesOf(
  invoice: { readonly lines: readonly InvoiceLine[]; readonly totalMinor: bigint },
  currency: string,
): string | undefined {
  try {
    const found = recomputeInvoice(invoice)
    return found.length === 0
      ? undefined
      : found.map((each) => discrepancyText(each, currency)).join(', ')
  } catch (error) {
    return `cannot be priced: ${error instanceof Error ? error.message : String(error)}`
  }
}

function discrepancyText(discrepancy: PriceDiscrepancy, currency: string): string {
  return discrepancy.kind === 'total'
    ? `total ${discrepancy.totalMinor} ${currency}`
    : `line ${discrepancy.line + 1} ${discrepancy.amountMinor} ${currency}`
}

async function listInvoicePage(
  sql: Queryable,
  { from, to, providerId }: Scope,
  after: InvoiceRow | undefined,
): Promise<InvoiceRow[]> {
  return sql<InvoiceRow[]>`
    select provider_id, reference, total, currency, created_at from invoices
    where created_at >= ${from} and created_at < ${to}
      ${providerId === undefined ? sql`` : sql`and provider_id = ${providerId}`}
      ${after === undefined ? sql`` : sql`and (created_at, reference) > (${after.created_at}, ${after.reference})`}
    order by created_at, reference limit ${invoicesAtOnce}`
}
