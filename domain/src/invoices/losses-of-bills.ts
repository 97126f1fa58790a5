import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import { statusesNotWon } from './disputes.ts'

/**
 * Returns the table `losses` of a `with` clause. It has the rows of its table `bills`, which has the columns `reference`, `status` and
 * `due` of invoices, and these columns:
 * - `lost`: written off and not paid since, or withdrawn by a bank that may keep it. What was taken from the balance for a withdrawal is
 *   subtracted, because a credit had returned it before.
 * - `taken`: credit that was taken from the balance because the invoice was given up.
 */
export function lossesOfBills(sql: Queryable, providerId: string): Fragment {
  return sql`
    disputed as materialized (
      select paid.invoice_ref, sum(dispute.amount) as amount
      from bills join payment_intents as paid on paid.provider_id = ${providerId}
        and paid.invoice_ref = bills.reference
      join payment_disputes as dispute on dispute.provider_id = paid.provider_id
        and dispute.intent_ref = paid.reference and dispute.status in ${sql(statusesNotWon)}
      group by paid.invoice_ref
    ), moved as materialized (
      select posted.invoice_ref,
        sum(entry.amount) filter (where posted.kind = 'dispute_from_balance') as disputed,
        sum(entry.amount) filter (where posted.kind = 'given_up_from_balance') as given_up
      from bills join ledger_transactions as posted on posted.provider_id = ${providerId}
        and posted.invoice_ref = bills.reference
        and posted.kind in ('dispute_from_balance', 'given_up_from_balance')
      join ledger_entries as entry on entry.provider_id = posted.provider_id
        and entry.transaction_ref = posted.reference and entry.account = 'carried'
      group by posted.invoice_ref
    ), losses as materialized (
      select bills.*, coalesce(moved.given_up, 0) as taken,
        case when status = 'uncollectible' then due else 0 end
          + greatest(coalesce(disputed.amount, 0) - coalesce(moved.disputed, 0), 0) as lost
      from bills left join disputed on disputed.invoice_ref = bills.reference
      left join moved on moved.invoice_ref = bills.reference
    )`
}
