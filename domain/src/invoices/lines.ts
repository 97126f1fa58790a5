import type { Queryable } from '@tollgate/platform/database/database'
import { isContained, type InvoiceLine } from '../pricing/invoice-line.ts'
import type { LineInputs } from '../pricing/line-inputs.ts'
import { jsonb } from '../postgres/jsonb.ts'

type LineRow = {
  description: string
  period_start: Date | null
  period_end: Date | null
  inputs: LineInputs
  amount: string
  exact_numerator: string
  exact_denominator: string
  residual_numerator: string
}

/** Stores the lines of an invoice. Lines never change afterwards. */
export async function insertLines(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
  lines: readonly InvoiceLine[],
): Promise<void> {
  if (lines.length === 0) return
  const rows = lines.map((line, at) => ({
    provider_id: providerId,
    invoice_ref: invoiceRef,
    line: at,
    kind: line.inputs.kind,
    description: line.description,
    period_start: line.period?.start ?? null,
    period_end: line.period?.end ?? null,
    inputs: jsonb(sql, line.inputs),
    amount: line.amountMinor.toString(),
    is_contained: isContained(line),
    exact_numerator: line.exact.numerator.toString(),
    exact_denominator: line.exact.denominator.toString(),
    residual_numerator: line.residualNumerator.toString(),
  }))
  await sql`insert into invoice_lines ${sql(rows)}`
}

/** Returns the lines in the order in which they appear on the invoice. */
export async function listLines(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<InvoiceLine[]> {
  const rows = await sql<LineRow[]>`
    select description, period_start, period_end, inputs, amount, exact_numerator,
      exact_denominator, residual_numerator
    from invoice_lines where provider_id = ${providerId} and invoice_ref = ${invoiceRef}
    order by line`
  return rows.map(fromRow)
}

/** Returns the lines of several invoices of any provider, keyed by invoice. Invoices without lines are absent. */
export async function listLinesByInvoice(
  sql: Queryable,
  invoices: readonly { readonly providerId: string; readonly reference: string }[],
): Promise<Map<string, InvoiceLine[]>> {
  const rows = await sql<(LineRow & { invoice_ref: string })[]>`
    select invoice_ref, description, period_start, period_end, inputs, amount, exact_numerator,
      exact_denominator, residual_numerator
    from invoice_lines where (provider_id, invoice_ref) in (
      select * from unnest(
        ${invoices.map(({ providerId }) => providerId)}::text[],
        ${invoices.map(({ reference }) => reference)}::text[]))
    order by invoice_ref, line`
  const found = new Map<string, InvoiceLine[]>()
  for (const row of rows) {
    const lines = found.get(row.invoice_ref)
    if (lines === undefined) found.set(row.invoice_ref, [fromRow(row)])
    else lines.push(fromRow(row))
  }
  return found
}

function fromRow(row: LineRow): InvoiceLine {
  const { description, inputs, period_start: start, period_end: end } = row
  return {
    description,
    period: start === null || end === null ? null : { start, end },
    inputs,
    amountMinor: BigInt(row.amount),
    exact: {
      numerator: BigInt(row.exact_numerator),
      denominator: BigInt(row.exact_denominator),
    },
    residualNumerator: BigInt(row.residual_numerator),
  }
}
