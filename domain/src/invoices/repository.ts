import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import { jsonb } from '../postgres/jsonb.ts'
import { selectPage, type PageRange } from '../postgres/select-page.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { Invoice, InvoiceParties } from './invoice.ts'
import { nextNumber } from './numbers.ts'
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
  paid_at: Date | null
  closed_at: Date | null
  created_at: Date
  updated_at: Date
}

/** Without its lines, which the same transaction must insert: at its end they must add up to the total. */
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

/** Everything that changes about an invoice once it was issued. */
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
 * The same of a draft that is issued, with what it only gets once: its date, its parties, and the provider's next number,
 * which it returns.
 */
export async function keepIssued(
  sql: Queryable,
  providerId: string,
  invoice: Invoice,
): Promise<bigint> {
  const [row] = await sql<[{ number: bigint }]>`
    with taken (number) as (${nextNumber(sql, providerId, 'invoice')})
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
    paid_at = ${invoice.paidAt}, closed_at = ${invoice.closedAt},
    updated_at = ${invoice.updatedAt}`
}

/** Whoever changes an invoice locks it first, and decides by what is found then. */
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
  /** The customer's own reference. */
  readonly customerRef?: string | undefined
  readonly purchaseRef?: string | undefined
}

/** Newest first. A draft of nothing is none of them: it says what was counted of a period that cost nothing. */
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
    paidAt: row.paid_at,
    closedAt: row.closed_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
