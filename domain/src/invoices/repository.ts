import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import { jsonb } from '../postgres/jsonb.ts'
import { selectPage, type PageRange } from '../postgres/select-page.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { Invoice, InvoiceParties } from './invoice.ts'
import { nextNumberStatement } from './numbers.ts'
import type { InvoiceStatus } from './transitions.ts'

type InvoiceRow = {
  reference: string
  number: bigint | null
  status: InvoiceStatus
  customer_ref: string
  purchase_ref: string | null
  plan_snapshot: PlanSnapshot | null
  currency: string
  total: string
  carried: string
  paid: string
  credited: string
  refunded: string
  is_held: boolean
  failed_charges: number
  next_charge_at: Date | null
  counted_failure: string | null
  parties: InvoiceParties | null
  issued_at: Date | null
  due_at: Date | null
  paid_at: Date | null
  closed_at: Date | null
  created_at: Date
  updated_at: Date
}

/**
 * Inserts an invoice without its lines. The same transaction must insert the lines, because a constraint checks at its
 * end that they add up to the total.
 */
export async function insertInvoice(
  sql: Queryable,
  providerId: string,
  invoice: Invoice,
): Promise<void> {
  await sql`
    insert into invoices
      (provider_id, reference, status, customer_ref, purchase_ref, plan_snapshot, currency, total,
       created_at, updated_at)
    values (${providerId}, ${invoice.reference}, ${invoice.status}, ${invoice.customerRef},
      ${invoice.purchaseRef}, ${jsonb(sql, invoice.planSnapshot)}, ${invoice.currency},
      ${invoice.totalMinor.toString()}, ${invoice.createdAt}, ${invoice.updatedAt})`
}

/** Stores every field of an invoice that can change after it was issued. */
export async function updateInvoice(
  sql: Queryable,
  providerId: string,
  invoice: Invoice,
): Promise<void> {
  await sql`
    update invoices set ${changesOf(sql, invoice)}
    where provider_id = ${providerId} and reference = ${invoice.reference}`
}

/**
 * Stores a draft as issued: like `updateInvoice`, and also the issue date, the parties and the provider's next number.
 * Returns the number.
 */
export async function storeIssued(
  sql: Queryable,
  providerId: string,
  invoice: Invoice,
): Promise<bigint> {
  const [row] = await sql<[{ number: bigint }]>`
    with taken (number) as (${nextNumberStatement(sql, providerId, 'invoice')})
    update invoices set ${changesOf(sql, invoice)}, parties = ${jsonb(sql, invoice.parties)},
      issued_at = ${invoice.issuedAt}, number = taken.number
    from taken where provider_id = ${providerId} and reference = ${invoice.reference}
    returning invoices.number`
  return row.number
}

function changesOf(sql: Queryable, invoice: Invoice): Fragment {
  return sql`
    status = ${invoice.status}, carried = ${invoice.carriedMinor.toString()},
    paid = ${invoice.paidMinor.toString()}, credited = ${invoice.creditedMinor.toString()},
    refunded = ${invoice.refundedMinor.toString()}, is_held = ${invoice.isHeld},
    failed_charges = ${invoice.failedCharges}, next_charge_at = ${invoice.nextChargeAt},
    counted_failure = ${invoice.countedFailure},
    due_at = ${invoice.dueAt}, paid_at = ${invoice.paidAt}, closed_at = ${invoice.closedAt},
    updated_at = ${invoice.updatedAt}`
}

/**
 * Locks and returns the invoice. Every change to an invoice starts with this lock and is decided on the row that it
 * returns.
 */
export async function lockInvoice(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<Invoice | undefined> {
  const [row] = await sql<InvoiceRow[]>`
    select * from invoices where provider_id = ${providerId} and reference = ${reference}
    for update`
  return row === undefined ? undefined : fromRow(row)
}

export async function findInvoice(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<Invoice | undefined> {
  const [row] = await sql<InvoiceRow[]>`
    select * from invoices where provider_id = ${providerId} and reference = ${reference}`
  return row === undefined ? undefined : fromRow(row)
}

export type InvoiceFilter = {
  readonly status?: InvoiceStatus | undefined
  readonly customerRef?: string | undefined
  readonly purchaseRef?: string | undefined
}

/**
 * Returns a page of invoices, newest first. Excludes drafts with a total of 0, which only record the usage of a period
 * that cost nothing.
 */
export async function listInvoices(
  sql: Queryable,
  providerId: string,
  { status, customerRef, purchaseRef }: InvoiceFilter,
  page: PageRange,
): Promise<{ invoices: Invoice[]; total: number }> {
  const matching: Fragment = sql`
    from invoices where provider_id = ${providerId} and not (status = 'draft' and total = 0)
    ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${customerRef === undefined ? sql`` : sql`and customer_ref = ${customerRef}`}
    ${purchaseRef === undefined ? sql`` : sql`and purchase_ref = ${purchaseRef}`}`
  const order = sql`created_at desc, reference`
  const { rows, total } = await selectPage<InvoiceRow>(sql, matching, order, page)
  return { invoices: rows.map(fromRow), total }
}

function fromRow(row: InvoiceRow): Invoice {
  return {
    reference: row.reference,
    number: row.number,
    status: row.status,
    customerRef: row.customer_ref,
    purchaseRef: row.purchase_ref,
    planSnapshot: row.plan_snapshot,
    currency: row.currency,
    totalMinor: BigInt(row.total),
    carriedMinor: BigInt(row.carried),
    paidMinor: BigInt(row.paid),
    creditedMinor: BigInt(row.credited),
    refundedMinor: BigInt(row.refunded),
    isHeld: row.is_held,
    failedCharges: row.failed_charges,
    nextChargeAt: row.next_charge_at,
    countedFailure: row.counted_failure,
    parties: row.parties,
    issuedAt: row.issued_at,
    dueAt: row.due_at,
    paidAt: row.paid_at,
    closedAt: row.closed_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
