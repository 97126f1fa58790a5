import type { Queryable } from '@tollgate/platform/database/database'
import { readChangeHistory } from '../purchases/plan-change-history.ts'
import { paymentSourcesOf } from '../purchases/plan-changes.ts'
import type { Purchase } from '../purchases/repository.ts'

/**
 * Returns whether a dispute has taken back the payment that keeps the purchase active: the purchase's own payment, or
 * the payment of the period that the purchase continues.
 */
export async function isPurchaseChargedBack(
  sql: Queryable,
  providerId: string,
  purchase: Purchase,
): Promise<boolean> {
  const { purchases, ownPeriods } = await readChangeHistory(sql, providerId, purchase)
  return isChargedBack(sql, providerId, paymentSourcesOf(purchases, purchase, ownPeriods))
}

/**
 * Returns whether a dispute has taken back a payment of the carriers, and no later payment with another card replaces
 * it. The carriers are purchases of one customer whose payments keep one of these purchases active.
 *
 * A payment counts as a replacement if it is neither disputed nor refunded in full, and has paid:
 * - the invoice of the newest period, if the price is charged per period;
 * - the last usage bill, if only usage is charged;
 * - anything except a usage bill, if nothing is charged per period.
 */
export async function isChargedBack(
  sql: Queryable,
  providerId: string,
  carriers: readonly Pick<Purchase, 'reference' | 'customerRef'>[],
): Promise<boolean> {
  const [first] = carriers
  if (first === undefined) return false
  const references = carriers.map(({ reference }) => reference)
  const [row] = await sql<[{ is_charged_back: boolean }]>`
    with paid as (
      select reference, invoice_ref, purpose, succeeded_at, original_amount,
        coalesce(paid_method_id, payment_method_id) as method,
        exists (
          select from payment_disputes as dispute
          where dispute.provider_id = ${providerId} and dispute.intent_ref = reference
            and dispute.takes_access) as is_taken
      from payment_intents
      where provider_id = ${providerId} and customer_ref = ${first.customerRef}
        and purchase_ref = any(${references}) and status = 'succeeded'
    ), newest as (
      select invoice_ref from billed_periods
      where provider_id = ${providerId} and purchase_ref = any(${references})
      order by part = 'recurring' desc, period_start desc limit 1
    ), carrying as (
      select * from paid
      where not is_taken
        and original_amount > (
          select coalesce(sum(amount - from_balance), 0) from payment_refunds as refund
          where refund.provider_id = ${providerId} and refund.intent_ref = paid.reference
            and refund.status = 'succeeded')
        and not exists (
          select from invoices where invoices.provider_id = ${providerId}
            and invoices.reference = paid.invoice_ref and invoices.status = 'refunded')
        and case when exists (select from newest)
          then invoice_ref = (select invoice_ref from newest)
          else purpose <> 'usage_billing' end
    )
    select exists (
      select from paid as taken
      where is_taken and not exists (
        select from carrying
        where carrying.succeeded_at > taken.succeeded_at
          and carrying.method is distinct from taken.method)
    ) as is_charged_back`
  return row.is_charged_back
}
