import type { Queryable } from '@tollgate/platform/database/database'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import type { ChargedPart } from '../pricing/split-charges.ts'
import { isReturned } from './is-returned.ts'

export type PeriodClaim = {
  readonly part: ChargedPart
  readonly period: ChargedPeriod
}

/**
 * Claims the periods for the invoice, in the transaction that creates the invoice. Returns false and claims nothing if
 * any part of a period is already billed. If two transactions claim the same period, the second one waits until the
 * first one ends.
 */
export async function claimPeriods(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  claims: readonly PeriodClaim[],
  invoiceRef: string,
  now: Date,
): Promise<boolean> {
  if (claims.length === 0) return true
  const rows = claims.map(({ part, period }) => ({
    provider_id: providerId,
    purchase_ref: purchaseRef,
    part,
    period_start: period.start,
    period_end: period.end,
    invoice_ref: invoiceRef,
    billed_at: now,
  }))
  const claimed = await sql`
    insert into billed_periods ${sql(rows)} on conflict do nothing returning 1`
  if (claimed.length === claims.length) return true
  await sql`
    delete from billed_periods where provider_id = ${providerId} and invoice_ref = ${invoiceRef}`
  return false
}

export type BilledPeriod = ChargedPeriod & {
  readonly invoiceRef: string
  readonly billedAt: Date
}

/** Returns the billed periods of one part of the purchase's price, newest first. */
export async function listBilledPeriods(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  part: ChargedPart,
  rowsMax: number,
): Promise<BilledPeriod[]> {
  type Row = { period_start: Date; period_end: Date; invoice_ref: string; billed_at: Date }
  const rows = await sql<Row[]>`
    select period_start, period_end, invoice_ref, billed_at from billed_periods
    where provider_id = ${providerId} and purchase_ref = ${purchaseRef} and part = ${part}
    order by period_start desc limit ${rowsMax}`
  return rows.map((row) => ({
    start: row.period_start,
    end: row.period_end,
    invoiceRef: row.invoice_ref,
    billedAt: row.billed_at,
  }))
}

/**
 * Returns the period whose recurring price the invoice charges. Returns undefined if the invoice charges no recurring
 * price; it may still charge usage.
 */
export async function findRecurringPeriod(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<ChargedPeriod | undefined> {
  const [row] = await sql<{ period_start: Date; period_end: Date }[]>`
    select period_start, period_end from billed_periods
    where provider_id = ${providerId} and invoice_ref = ${invoiceRef} and part = 'recurring'`
  return row === undefined ? undefined : { start: row.period_start, end: row.period_end }
}

/** Releases the period whose recurring price the invoice charges, so that another invoice can charge it. */
export async function releasePeriods(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<void> {
  await sql`
    delete from billed_periods
    where provider_id = ${providerId} and invoice_ref = ${invoiceRef} and part = 'recurring'`
}

/**
 * Returns the purchases whose newest billed period is unpaid or was returned in full. A purchase without a billed
 * period is not included.
 */
export async function listUnpaidPeriods(
  sql: Queryable,
  providerId: string,
  purchaseRefs: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ purchase_ref: string; invoice_ref: string; status: string }[]>`
    select distinct on (billed.purchase_ref) billed.purchase_ref, billed.invoice_ref, invoices.status
    from billed_periods as billed
    join invoices on invoices.provider_id = billed.provider_id
      and invoices.reference = billed.invoice_ref
    where billed.provider_id = ${providerId} and billed.purchase_ref = any(${[...purchaseRefs]})
      and part = 'recurring'
    order by billed.purchase_ref, period_start desc`
  const unpaid = new Set<string>()
  for (const { purchase_ref: purchaseRef, invoice_ref: invoiceRef, status } of rows) {
    const wasPaid = status === 'paid' || status === 'partly_refunded' || status === 'refunded'
    if (!wasPaid || (await isReturned(sql, providerId, invoiceRef))) unpaid.add(purchaseRef)
  }
  return unpaid
}

/**
 * Returns those of the purchases whose only billed usage is of a part of a period: the running one, whose end is still the next date of
 * a usage bill, or the one in which a change of plan ended the purchase. Undefined if a period of one of them was billed to its end.
 */
export async function listPartBilledPurchases(
  sql: Queryable,
  providerId: string,
  purchaseRefs: readonly string[],
): Promise<string[] | undefined> {
  const rows = await sql<{ reference: string; is_part: boolean }[]>`
    select reference, bool_and(next_usage_bill_at is not distinct from period_end)
        or count(*) = 1 and bool_and(next_usage_bill_at is null) as is_part
    from billed_periods join purchases on purchases.provider_id = billed_periods.provider_id
      and reference = purchase_ref
    where billed_periods.provider_id = ${providerId} and purchase_ref = any(${[...purchaseRefs]})
      and part = 'usage'
    group by reference order by reference`
  return rows.every((row) => row.is_part) ? rows.map((row) => row.reference) : undefined
}

/**
 * Records that the invoice charges more usage of a period that was billed in part, up to the end of `period`. The row names the
 * latest invoice, because the same invoice may charge the price of the next period, which tells it from one that charges only that
 * price.
 */
export async function continueUsagePeriod(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  { start, end }: ChargedPeriod,
  { invoiceRef, billedAt }: Pick<BilledPeriod, 'invoiceRef' | 'billedAt'>,
): Promise<void> {
  await sql`
    update billed_periods
    set period_end = ${end}, invoice_ref = ${invoiceRef}, billed_at = greatest(billed_at, ${billedAt})
    where provider_id = ${providerId} and purchase_ref = ${purchaseRef} and part = 'usage'
      and period_start = ${start}`
}

/** Gives a usage period that was billed early its end. Returns false if the period is not billed. */
export async function extendUsagePeriod(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  { start, end }: ChargedPeriod,
): Promise<boolean> {
  const extended = await sql`
    update billed_periods set period_end = ${end}
    where provider_id = ${providerId} and purchase_ref = ${purchaseRef} and part = 'usage'
      and period_start = ${start}
    returning 1`
  return extended.length > 0
}
