import type { Queryable } from '@tollgate/platform/database/database'
import { usageKinds } from '../coupons/discount-lines.ts'
import { atLeastZero, sumOf } from '../money/amounts.ts'
import { decideCreditableUsage } from './decide-credited-later.ts'
import { listBillsOfUsage } from './list-bills-of-usage.ts'
import { lossesOfBills } from './losses-of-bills.ts'
import {
  limitCredits,
  sumBilledCharges,
  type BilledCharges,
  type ChargedLineRow,
} from './sum-billed-usage.ts'

/** Returns what the usage lines of a period have charged, in minor units of the purchase's currency. */
export async function sumBilledMinor(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  periodStart: Date,
): Promise<bigint> {
  const usage = await listChargedUsage(sql, providerId, purchaseRef, [periodStart])
  const charges = [...(usage.get(periodStart.getTime())?.values() ?? [])]
  return sumOf(charges.map(({ amountMinor = 0n }) => amountMinor))
}

/**
 * Returns the invoiced usage of a purchase's periods, keyed by the start of the period in Unix milliseconds, and by charge. Void
 * invoices count as well: their usage was not paid, but must not be billed again. A period whose usage is not billed
 * yet is absent. Usage beyond the returned amount is late usage.
 *
 * What was credited, refunded, lost or given up of a bill is given up of its lines. A period can have less left than its own lines say,
 * because earlier credits have returned the same money as another part of the bill.
 */
export async function listBilledUsage(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  periodStarts: readonly Date[],
): Promise<Map<number, BilledCharges>> {
  const usage = await listChargedUsage(sql, providerId, purchaseRef, periodStarts)
  const all = [...usage.values()].flatMap((charges) => [...charges.values()])
  if (all.every(({ givenUpMinor = 0n }) => givenUpMinor === 0n)) return usage
  const wanted = new Map(
    [...usage].map(([start, charges]) => {
      const kept = [...charges.values()].map(({ amountMinor = 0n, givenUpMinor = 0n }) =>
        atLeastZero(amountMinor - givenUpMinor),
      )
      return [start, sumOf(kept)]
    }),
  )
  const bills = await listBillsOfUsage(sql, providerId, purchaseRef, periodStarts)
  const creditable = decideCreditableUsage(bills, wanted)
  return new Map(
    [...usage].map(([start, charges]) => [start, limitCredits(charges, creditable.get(start)!)]),
  )
}

/** Returns the invoiced usage, and what its own lines have given up. */
async function listChargedUsage(
  sql: Queryable,
  providerId: string,
  purchaseRef: string,
  periodStarts: readonly Date[],
): Promise<Map<number, BilledCharges>> {
  if (periodStarts.length === 0) return new Map()
  const isDiscount = sql`own.kind = 'discount' and own.inputs->>'by' in ('percent', 'amount')`
  const rows = await sql<ChargedLineRow[]>`
    with charged as materialized (
      select line.*, status, total - carried - paid - credited as due
      from invoices join invoice_lines as line on line.provider_id = invoices.provider_id
        and line.invoice_ref = invoices.reference
      where invoices.provider_id = ${providerId} and invoices.purchase_ref = ${purchaseRef}
        and line.kind in ('usage', 'late_usage') and line.period_start in ${sql([...periodStarts])}
    ), bills as materialized (
      select distinct invoice_ref as reference, status, due from charged
    ), of_lines as materialized (
      -- What the invoice credits of other periods has paid a part of its charges.
      select own.invoice_ref, sum(own.amount) filter (where own.kind <> 'carried_in' and not own.is_contained)
          - coalesce(sum(own.amount) filter (where own.kind = any(${[...usageKinds]}) and own.amount < 0), 0)
          as own_total,
        coalesce(sum(own.amount) filter (where ${isDiscount}), 0) as off,
        -- The first discount was computed on all that is discounted.
        max((own.inputs->>'baseMinor')::bigint) filter (where ${isDiscount}) as gross
      from bills join invoice_lines as own on own.provider_id = ${providerId}
        and own.invoice_ref = bills.reference
      group by own.invoice_ref
    ), of_notes as materialized (
      select credited.invoice_ref, credited.invoice_line, sum(credited.amount) as noted
      from bills join credit_note_lines as credited on credited.provider_id = ${providerId}
        and credited.invoice_ref = bills.reference
      join credit_notes as note on note.provider_id = credited.provider_id
        and note.reference = credited.credit_note_ref and note.voided_at is null
      group by credited.invoice_ref, credited.invoice_line
    ), all_notes as materialized (
      select note.invoice_ref, sum(note.total) as noted_total
      from bills join credit_notes as note on note.provider_id = ${providerId}
        and note.invoice_ref = bills.reference and note.voided_at is null
      group by note.invoice_ref
    ), ${lossesOfBills(sql, providerId)}
    select period_start, kind, inputs->>'usedUnits' as used, inputs->>'lateUnits' as late,
      inputs->>'carriedOverUnits' as carried, inputs->>'usedBeforeUnits' as before,
      inputs->>'lateBeforeUnits' as late_before, inputs->>'charge' as charge,
      inputs->>'packUnits' as packed, inputs->>'latePackUnits' as late_packed,
      inputs->'rowUnits' as row_units, inputs->'lateRowUnits' as late_row_units,
      inputs->>'lateCarriedOverUnits' as late_carried, amount::text, inputs->'conversion' as conversion,
      case
        when lost_minor <= 0 then given_back
        -- Each line has its share, rounded up, of what was given up and not paid, or of what a bank has withdrawn or may withdraw.
        else least(greatest(amount, 0), given_back + ceil(
          (greatest(amount, 0) - given_back) * least(lost_minor, left_total) / nullif(left_total, 0)))
      end::text as given_up
    from charged join of_lines using (invoice_ref)
    left join of_notes on of_notes.invoice_ref = charged.invoice_ref and invoice_line = line
    left join all_notes on all_notes.invoice_ref = charged.invoice_ref
    join losses on losses.reference = charged.invoice_ref
    -- Credit notes credit the price after its share of the discounts. The credited part of the line is before discounts, so it is larger.
    cross join lateral (
      select own_total - coalesce(noted_total, 0) as left_total,
        case when charged.status = 'void' then own_total - taken else lost - taken end as lost_minor,
        case when off < 0 and noted > 0
          then least(amount, ceil(noted * gross / greatest(gross + off, 1)))
          else coalesce(noted, 0) end as given_back
    ) as of_credits
    order by kind = 'late_usage', charge, period_start`
  return sumBilledCharges(rows)
}
