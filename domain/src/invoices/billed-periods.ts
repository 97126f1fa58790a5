import type { Queryable } from '@tollgate/platform/database/database'
import { discountedKinds } from '../coupons/discount-lines.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import type { ChargedPart } from '../pricing/split-charges.ts'
import { statusesNotWon } from './disputes.ts'
import { isReturned } from './is-returned.ts'
import { sumBilledCharges, type BilledCharges, type ChargedLineRow } from './sum-billed-usage.ts'

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

/** Returns what the usage lines of a period have charged, in minor units of the purchase's currency. */
export async function sumBilledMinor(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  periodStart: Date,
): Promise<bigint> {
  const usage = await listBilledUsage(sql, providerId, purchaseRef, [periodStart])
  const charges = [...(usage.get(periodStart.getTime())?.values() ?? [])]
  return charges.reduce((sum, { amountMinor = 0n }) => sum + amountMinor, 0n)
}

/**
 * Returns the invoiced usage of a purchase's periods, keyed by the start of the period in Unix milliseconds, and by charge. Void
 * invoices count as well: their usage was not paid, but must not be billed again. A period whose usage is not billed
 * yet is absent. Usage beyond the returned amount is late usage.
 */
export async function listBilledUsage(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  periodStarts: readonly Date[],
): Promise<Map<number, BilledCharges>> {
  if (periodStarts.length === 0) return new Map()
  const rows = await sql<ChargedLineRow[]>`
    select period_start, kind, inputs->>'usedUnits' as used, inputs->>'lateUnits' as late,
      inputs->>'carriedOverUnits' as carried, inputs->>'usedBeforeUnits' as before,
      inputs->>'lateBeforeUnits' as late_before, inputs->>'charge' as charge,
      inputs->>'packUnits' as packed, inputs->>'latePackUnits' as late_packed,
      inputs->'rowUnits' as row_units, inputs->'lateRowUnits' as late_row_units,
      inputs->>'lateCarriedOverUnits' as late_carried, amount::text, inputs->'conversion' as conversion,
      case
        when status = 'void' then greatest(amount, 0)
        when lost <= 0 then given_back
        -- Each line has its share, rounded up, of what was written off and not paid, or of what a bank has withdrawn or may withdraw.
        else least(greatest(amount, 0), given_back + ceil(
          (greatest(amount, 0) - given_back) * least(lost, own_total - noted_total)
            / nullif(own_total - noted_total, 0)))
      end::text as given_up
    from invoices join invoice_lines on invoice_lines.provider_id = invoices.provider_id
      and invoice_ref = reference
    cross join lateral (
      select coalesce(sum(credited.amount), 0) as noted from credit_note_lines as credited
      join credit_notes as note on note.provider_id = credited.provider_id
        and note.reference = credited.credit_note_ref
      where credited.provider_id = ${providerId} and credited.invoice_ref = invoices.reference
        and credited.invoice_line = invoice_lines.line and note.voided_at is null
    ) as of_notes
    cross join lateral (
      select sum(own.amount) filter (where own.kind <> 'carried_in' and not own.is_contained) as own_total,
        coalesce(sum(own.amount) filter (where own.kind = 'discount'), 0) as off,
        sum(own.amount) filter (
          where own.amount > 0 and own.kind = any(${[...discountedKinds]})) as gross
      from invoice_lines as own
      where own.provider_id = ${providerId} and own.invoice_ref = invoices.reference
    ) as of_lines
    cross join lateral (
      select coalesce(sum(note.total), 0) as noted_total from credit_notes as note
      where note.provider_id = ${providerId} and note.invoice_ref = invoices.reference
        and note.voided_at is null
    ) as all_notes
    cross join lateral (
      select case when status = 'uncollectible' then total - carried - paid - credited else (
        select coalesce(sum(dispute.amount), 0) from payment_intents as disputed
        join payment_disputes as dispute on dispute.provider_id = disputed.provider_id
          and dispute.intent_ref = disputed.reference
        where disputed.provider_id = ${providerId} and disputed.invoice_ref = invoices.reference
          and dispute.status in ${sql(statusesNotWon)}
      ) - (
        -- The rest of the disputed money was credited to the balance before, and taken from there.
        select coalesce(sum(entry.amount), 0) from ledger_transactions as posted
        join ledger_entries as entry on entry.provider_id = posted.provider_id
          and entry.transaction_ref = posted.reference
        where posted.provider_id = ${providerId} and posted.invoice_ref = invoices.reference
          and posted.kind = 'dispute_from_balance' and entry.account = 'carried'
      ) end as lost
    ) as of_losses
    -- Credit notes credit the price after its share of the discounts. The credited part of the line is before discounts, so it is larger.
    cross join lateral (
      select case when off < 0 and noted > 0
        then least(amount, ceil(noted * gross / greatest(gross + off, 1))) else noted end as given_back
    ) as of_credits
    where invoices.provider_id = ${providerId} and purchase_ref = ${purchaseRef}
      and kind in ('usage', 'late_usage') and period_start in ${sql([...periodStarts])}
    order by kind = 'late_usage'`
  return sumBilledCharges(rows)
}
