import type { Queryable } from '@tollgate/platform/database/database'
import { describe, type LineKind } from './model/invoices.ts'
import { elementsMissingIn } from './not-in.ts'
import type { Person } from './person.ts'

type InvoiceRow = Readonly<
  Record<'total' | 'carried' | 'credited' | 'paid' | 'refunded', string>
> & {
  readonly purchase_ref: string
  readonly status: string
  readonly lines: readonly {
    readonly kind: LineKind
    readonly start: string | null
    readonly end: string | null
    readonly amount: string
  }[]
}

/** Compares every invoice with its lines and its payment. */
export async function compareInvoices(
  sql: Queryable,
  people: readonly Person[],
): Promise<string[]> {
  const rows = await sql<InvoiceRow[]>`
    select purchase_ref, status, total::text, carried::text, credited::text, paid::text,
      refunded::text, (
        select json_agg(json_build_object('kind', kind, 'start', period_start, 'end', period_end,
          'amount', amount::text))
        from invoice_lines as line where line.provider_id = invoice.provider_id
          and line.invoice_ref = invoice.reference) as lines
    from invoices as invoice`
  const found = rows.map((row) => `${row.purchase_ref} ${describe(fromRow(row))}`)
  const expected = people.flatMap(({ model }) => [
    ...model.purchases.flatMap(({ reference, invoices }) =>
      invoices.map((invoice) => `${reference} ${describe(invoice)}`),
    ),
    ...model.creditSales.map(({ reference, invoice }) => `${reference} ${describe(invoice)}`),
  ])
  return [
    ...elementsMissingIn(found, expected).map((each) => `billed too much: ${each}`),
    ...elementsMissingIn(expected, found).map((each) => `not billed: ${each}`),
  ]
}

function fromRow({ status, lines, ...amounts }: InvoiceRow) {
  return {
    status,
    total: BigInt(amounts.total),
    carried: BigInt(amounts.carried),
    credited: BigInt(amounts.credited),
    paid: BigInt(amounts.paid),
    refunded: BigInt(amounts.refunded),
    lines: lines.map(({ kind, start, end, amount }) => ({
      kind,
      amount: BigInt(amount),
      ...(start !== null && end !== null ? { start: Date.parse(start), end: Date.parse(end) } : {}),
    })),
  }
}

/** Compares the amounts carried to a customer's next invoice. None may be lost or created. */
export async function compareCarried(sql: Queryable, people: readonly Person[]): Promise<string[]> {
  const rows = await sql<{ customer: string; amount: string }[]>`
    select customer_ref as customer, amount::text as amount from carried_amounts`
  const found = new Map(rows.map(({ customer, amount }) => [customer, BigInt(amount)]))
  return people.flatMap(({ reference, model }) => {
    const amount = found.get(reference) ?? 0n
    if (amount === model.carried) return []
    return [`${reference}: ${amount} waits for the next invoice, not ${model.carried}`]
  })
}
