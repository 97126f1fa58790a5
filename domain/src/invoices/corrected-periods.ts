import type { Fragment, TransactionSql } from 'postgres'
import { firstPeriodToleranceSeconds } from '@tollgate/schemas/hot-state/documents'
import type { Queryable } from '@tollgate/platform/database/database'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'

/* Billed periods whose usage was corrected since their last bill. Usage that is only late is found without them. */

/** Usage that a correction has changed. */
export type TouchedUsage = {
  /** Any reference of the customer. */
  readonly customerRef: string
  /** Empty if the usage has no product. */
  readonly productRef: string
  /** Unix milliseconds. */
  readonly timestamp: number
}

/** Usage of a purchase. */
export type TouchedPurchase = { readonly purchaseRef: string; readonly usedAt: Date }

/** A period of a purchase, by its start. */
export type TouchedPeriod = { readonly purchaseRef: string; readonly start: Date }

/** A noted period. The bill that looks at it removes the note if its version is still the same. */
export type CorrectedPeriod = ChargedPeriod & { readonly version: bigint }

/** Seconds by which the second of an end and the tolerance before a first period extend the windows of billed usage. */
const toleranceSeconds = firstPeriodToleranceSeconds + 1

/**
 * Returns one usage for each second of a customer and product, which is enough to find the billed periods: periods begin at whole
 * seconds.
 */
export function oneOfEachSecond(usages: readonly TouchedUsage[]): TouchedUsage[] {
  const bySecond = new Map<string, TouchedUsage>()
  for (const { customerRef, productRef, timestamp } of usages) {
    const key = JSON.stringify([customerRef, productRef, Math.floor(timestamp / 1_000)])
    bySecond.set(key, { customerRef, productRef, timestamp })
  }
  return [...bySecond.values()]
}

/**
 * Notes the billed periods of the usage, for the next bill of their purchases, and the first periods of later purchases that share
 * their allowance. A period that a bill claims at the same time is one of the newest periods, at which the bill after it looks
 * anyway. The usage must be in the log before this call, or get there before `keptUntil`. Bills keep the notes until then. `unbilled`:
 * periods that may be billed before that, and are noted as well.
 *
 * An ended purchase whose usage is closed has no next bill, so this schedules one, which is due once the usage is in the log. A
 * purchase that was refunded in full gets none, because its usage is not billed.
 */
export async function noteCorrectedPeriods(
  sql: TransactionSql,
  providerId: string,
  touched: readonly TouchedUsage[],
  now: Date,
  announced?: { readonly keptUntil: Date; readonly unbilled: readonly TouchedPeriod[] },
): Promise<void> {
  if (touched.length === 0) return
  const billed = await sql<{ purchase_ref: string; period_start: Date }[]>`
    select distinct purchases.reference as purchase_ref, billed.period_start
    ${fromTouchedPurchases(sql, providerId, touched)}
    join billed_periods as billed on billed.provider_id = ${providerId}
      and billed.purchase_ref = purchases.reference and billed.part = 'usage'
      and least(billed.period_start, coalesce(purchases.allowance_since, billed.period_start))
        - ${toleranceSeconds} * interval '1 second' <= used.used_at
      and billed.period_end + interval '1 second' > used.used_at`
  const found = billed.map((row) => ({ purchaseRef: row.purchase_ref, start: row.period_start }))
  const periods = [...found, ...(announced?.unbilled ?? [])]
  await notePeriods(sql, providerId, periods, now, announced?.keptUntil ?? null)
}

/**
 * Returns the usage of purchases with a period that is not billed yet. A purchase that ended before `until` has its last bill by then,
 * and so has a period that ends before.
 */
export async function listUnbilledTouched(
  sql: Queryable,
  providerId: string,
  touched: readonly TouchedUsage[],
  until: Date,
): Promise<TouchedPurchase[]> {
  if (touched.length === 0) return []
  const rows = await sql<{ purchase_ref: string; used_at: Date }[]>`
    select distinct purchases.reference as purchase_ref, used.used_at
    ${fromTouchedPurchases(sql, providerId, touched)}
    where least(purchases.next_usage_bill_at, purchases.ended_at, purchases.end_date) <= ${until}
      and purchases.next_usage_bill_at is not null
      and coalesce(purchases.allowance_since, purchases.start_date)
        - ${toleranceSeconds} * interval '1 second' <= used.used_at
      and coalesce(purchases.ended_at, purchases.end_date, 'infinity') + interval '1 second' > used.used_at`
  return rows.map((row) => ({ purchaseRef: row.purchase_ref, usedAt: row.used_at }))
}

/** The usage as `used`, joined with the purchases that it may be billed with. */
function fromTouchedPurchases(
  sql: Queryable,
  providerId: string,
  touched: readonly TouchedUsage[],
): Fragment {
  return sql`
    from unnest(
      ${touched.map((each) => each.customerRef)}::text[],
      ${touched.map((each) => each.productRef)}::text[],
      ${touched.map((each) => new Date(each.timestamp).toISOString())}::timestamptz[]
    ) as used (reference, product_ref, used_at)
    join customer_references as link on link.provider_id = ${providerId}
      and link.reference = used.reference
      -- A released reference is still that of its customer until another customer has it.
      and (link.released_at is null or not exists (
        select from customer_references held
        where held.provider_id = link.provider_id and held.reference = link.reference
          and held.released_at is null))
    -- A deleted customer is not billed, not even for periods that had ended before.
    join customers on customers.provider_id = ${providerId}
      and customers.reference = link.customer_ref and customers.status = 'active'
    join purchases on purchases.provider_id = ${providerId}
      and purchases.customer_ref = link.customer_ref
      and (used.product_ref = '' or purchases.product_ref = used.product_ref)
      and purchases.status not in ('pending', 'refunded')`
}

/**
 * Notes the usage periods of an invoice whose payment counts again: it was paid after it had been written off, or its refund has
 * failed. A correction in between has credited at most what was paid by then, so the next bill credits the rest. Periods without late
 * usage have nothing left to credit. The caller has locked no invoice, or has locked the purchase before.
 */
export async function noteRepaidPeriods(
  sql: TransactionSql,
  providerId: string,
  invoiceRef: string,
  now: Date,
): Promise<void> {
  const found = await sql<{ purchase_ref: string; period_start: Date }[]>`
    select distinct purchases.reference as purchase_ref, billed.period_start
    from invoices
    join customers on customers.provider_id = invoices.provider_id
      and customers.reference = invoices.customer_ref and customers.status = 'active'
    join purchases on purchases.provider_id = invoices.provider_id
      and purchases.reference = invoices.purchase_ref and purchases.status not in ('pending', 'refunded')
    join invoice_lines as line on line.provider_id = invoices.provider_id
      and line.invoice_ref = invoices.reference and line.kind in ('usage', 'late_usage')
    join billed_periods as billed on billed.provider_id = invoices.provider_id
      and billed.purchase_ref = purchases.reference and billed.part = 'usage'
      and billed.period_start = line.period_start
    where invoices.provider_id = ${providerId} and invoices.reference = ${invoiceRef}
      and exists (
        select from invoices as later join invoice_lines as late on late.provider_id = later.provider_id
          and late.invoice_ref = later.reference
        where later.provider_id = ${providerId} and later.purchase_ref = purchases.reference
          and later.reference <> ${invoiceRef} and late.kind = 'late_usage'
          and late.period_start = line.period_start)`
  const periods = found.map((row) => ({ purchaseRef: row.purchase_ref, start: row.period_start }))
  await notePeriods(sql, providerId, periods, now, null)
}

async function notePeriods(
  sql: TransactionSql,
  providerId: string,
  found: readonly TouchedPeriod[],
  now: Date,
  keptUntil: Date | null,
): Promise<void> {
  if (found.length === 0) return
  const purchaseRefs = found.map(({ purchaseRef }) => purchaseRef)
  // Bills lock the purchase before they remove its periods.
  await sql`
    select from purchases where provider_id = ${providerId} and reference = any(${purchaseRefs})
    order by reference for update`
  await sql`
    insert into corrected_periods as kept (provider_id, purchase_ref, period_start, noted_at, kept_until)
    select distinct ${providerId}, noted.purchase_ref, noted.period_start, ${now}::timestamptz, ${keptUntil}::timestamptz
    from unnest(${purchaseRefs}::text[],
      ${found.map(({ start }) => start.toISOString())}::timestamptz[]
    ) as noted (purchase_ref, period_start)
    on conflict (provider_id, purchase_ref, period_start) do update
      set noted_at = excluded.noted_at, version = kept.version + 1,
        kept_until = greatest(kept.kept_until, excluded.kept_until)`
  const closesAt = keptUntil ?? now
  await sql`
    update purchases set usage_closes_at = ${closesAt}
    where provider_id = ${providerId} and reference = any(${purchaseRefs}) and ended_at is not null
      and next_usage_bill_at is null and (usage_closes_at is null or usage_closes_at < ${closesAt})`
}

/**
 * Keeps the usage of an ended purchase from being closed while announced usage can reach the log. The caller has stored the dates that
 * follow its last bill.
 */
export async function keepOpenForNotes(
  sql: TransactionSql,
  providerId: string,
  purchaseRef: string,
  now: Date,
): Promise<void> {
  await sql`
    update purchases set usage_closes_at = greatest(usage_closes_at, noted.kept_until)
    from (
      select max(kept_until) as kept_until from corrected_periods
      where provider_id = ${providerId} and purchase_ref = ${purchaseRef}
    ) as noted
    where provider_id = ${providerId} and reference = ${purchaseRef} and noted.kept_until > ${now}
      and next_usage_bill_at is null and (usage_closes_at is null or usage_closes_at < noted.kept_until)`
}

/** Returns the noted periods of a purchase, newest first. */
export async function listCorrectedPeriods(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
): Promise<CorrectedPeriod[]> {
  const rows = await sql<{ period_start: Date; period_end: Date; version: string }[]>`
    select billed.period_start, billed.period_end, version
    from corrected_periods as corrected join billed_periods as billed
      on billed.provider_id = corrected.provider_id and billed.purchase_ref = corrected.purchase_ref
      and billed.part = 'usage' and billed.period_start = corrected.period_start
    where corrected.provider_id = ${providerId} and corrected.purchase_ref = ${purchaseRef}
    order by billed.period_start desc`
  return rows.map((row) => ({
    start: row.period_start,
    end: row.period_end,
    version: BigInt(row.version),
  }))
}

/**
 * Removes the notes of the periods that a bill has looked at. A note stays if its period was noted again meanwhile, or if bills keep it
 * beyond `summedAt`, the time up to which the bill has seen all usage.
 */
export async function removeCorrectedPeriods(
  sql: TransactionSql,
  providerId: string,
  purchaseRef: string,
  periods: readonly CorrectedPeriod[],
  summedAt: Date,
): Promise<void> {
  if (periods.length === 0) return
  await sql`
    delete from corrected_periods as corrected
    using unnest(
      ${periods.map(({ start }) => start.toISOString())}::timestamptz[],
      ${periods.map(({ version }) => version.toString())}::bigint[]
    ) as billed (period_start, version)
    where corrected.provider_id = ${providerId} and corrected.purchase_ref = ${purchaseRef}
      and corrected.period_start = billed.period_start and corrected.version = billed.version
      and coalesce(corrected.kept_until, '-infinity') <= ${summedAt}`
}

/** Removes the notes of all purchases of a customer who is deleted. */
export async function removeCorrectedPeriodsOfCustomer(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<void> {
  await sql`
    delete from corrected_periods as corrected using purchases
    where corrected.provider_id = ${providerId} and purchases.provider_id = ${providerId}
      and purchases.reference = corrected.purchase_ref and purchases.customer_ref = ${customerRef}`
}
