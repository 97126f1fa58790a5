import type { Queryable } from '@tollgate/platform/database/database'
import type { Scope } from './scope.ts'

/*
 * Queries that compare amounts expected from our rows with amounts in the ledger. Columns: provider_id, subject, at, account, unit,
 * expected (null if our rows have nothing), posted (null if nothing is posted). Amounts are minor units, or 10^-6 credits.
 */

/**
 * Returns when postings of each provider began. Payments from before that are not in the ledger, and neither are their refunds and
 * disputes.
 */
function postingsBegan(sql: Queryable) {
  return sql`
    select provider_id, min(created_at) as began from ledger_transactions
    where kind = 'payment_succeeded' group by provider_id`
}

function ofProvider(sql: Queryable, table: string, { providerId }: Scope) {
  return providerId === undefined ? sql`` : sql`and ${sql(table)}.provider_id = ${providerId}`
}

/** Compares the amounts of successful payments. */
export function paymentPostings(sql: Queryable, scope: Scope) {
  return sql`
    select paid.provider_id, paid.reference as subject, succeeded_at as at, 'clearing' as account,
      currency as unit, original_amount::numeric as expected, entries.amount as posted
    from payment_intents as paid
    join (${postingsBegan(sql)}) as postings using (provider_id)
    left join ledger_transactions as posted on posted.provider_id = paid.provider_id
      and transaction_key = 'payment:' || paid.reference || ':succeeded'
    left join ledger_entries as entries on entries.provider_id = posted.provider_id
      and transaction_ref = posted.reference and account = 'clearing' and unit = paid.currency
    where status = 'succeeded' and original_amount > 0
      and succeeded_at >= greatest(began, ${scope.from})
      and succeeded_at < ${scope.to} ${ofProvider(sql, 'paid', scope)}`
}

/**
 * Compares what refunds took from the processor's balance and what is still owed for them. Currency conversion has postings of its
 * own.
 */
export function refundPostings(sql: Queryable, scope: Scope) {
  return sql`
    select refunds.provider_id, processor_refund_id as subject, refunds.created_at as at, account,
      currency as unit, case when status = moved_at then -amount else 0 end::numeric as expected,
      (
        select coalesce(sum(entries.amount), 0)
        from ledger_transactions as posted
        join ledger_entries as entries on entries.provider_id = posted.provider_id
          and transaction_ref = posted.reference
        where posted.provider_id = refunds.provider_id
          and transaction_key in (
            'refund:' || processor_refund_id || ':pending',
            'refund:' || processor_refund_id || ':succeeded',
            'refund:' || processor_refund_id || ':failed')
          and entries.account = moved.account and unit = currency
      ) as posted
    from payment_refunds as refunds
    cross join (values ('clearing', 'succeeded'), ('refunds_due', 'pending')) as moved (account, moved_at)
    where refunds.created_at >= ${scope.from} and refunds.created_at < ${scope.to}
      and exists (
        select from ledger_transactions as paid
        where paid.provider_id = refunds.provider_id
          and transaction_key = 'payment:' || intent_ref || ':succeeded')
      ${ofProvider(sql, 'refunds', scope)}`
}

/**
 * Compares the held credit of each customer's balance with the parts that open payments take from it. If too much is held, the rest is
 * never released. If too little is held, another invoice can take the credit that a payment relies on.
 */
export function heldCredits(sql: Queryable, scope: Scope) {
  return sql`
    select provider_id, customer_ref as subject, coalesce(balance.updated_at, ${scope.to}) as at,
      'held' as account, currency as unit, open.amount as expected, balance.held as posted
    from (
      select provider_id, customer_ref, currency, sum(balance_part)::numeric as amount
      from payment_intents
      where balance_part > 0 and status not in ('succeeded', 'canceled', 'failed')
      group by provider_id, customer_ref, currency) as open
    full join (
      select provider_id, customer_ref, currency, held, updated_at from carried_amounts
      where held <> 0) as balance using (provider_id, customer_ref, currency)
    where ${scope.providerId === undefined ? sql`true` : sql`provider_id = ${scope.providerId}`}`
}

/** Compares the amounts of payouts that arrived at the bank. */
export function payoutPostings(sql: Queryable, scope: Scope) {
  return sql`
    select payouts.provider_id, processor_payout_id as subject, created_at as at, 'bank' as account,
      currency as unit, case when status = 'paid' then amount else 0 end::numeric as expected,
      (
        select coalesce(sum(entries.amount), 0)
        from ledger_transactions as posted
        join ledger_entries as entries on entries.provider_id = posted.provider_id
          and transaction_ref = posted.reference
        where posted.provider_id = payouts.provider_id
          and transaction_key in (
            'payout:' || processor_payout_id || ':paid',
            'payout:' || processor_payout_id || ':failed')
          and entries.account = 'bank' and unit = currency
      ) as posted
    from payouts
    join (${postingsBegan(sql)}) as postings using (provider_id)
    where created_at >= greatest(began, ${scope.from}) and created_at < ${scope.to}
      ${ofProvider(sql, 'payouts', scope)}`
}

/** Compares credits with the payments that bought them. A payment that was not delivered bought none and is refunded. */
export function boughtCredits(sql: Queryable, scope: Scope) {
  return sql`
    select paid.provider_id, paid.reference as subject, succeeded_at as at, 'wallet' as account,
      'credits' as unit, credits::numeric * 1000000 as expected, entries.amount as posted
    from payment_intents as paid
    left join ledger_transactions as posted on posted.provider_id = paid.provider_id
      and transaction_key = 'top-up:' || paid.reference
    left join ledger_entries as entries on entries.provider_id = posted.provider_id
      and transaction_ref = posted.reference and account = 'wallet' and unit = 'credits'
    where status = 'succeeded' and credits is not null and paid.purchase_ref is not null
      and succeeded_at >= ${scope.from} and succeeded_at < ${scope.to}
      ${ofProvider(sql, 'paid', scope)}`
}

/** Finds top-up credits without a successful payment. */
export function creditsOfNoPayment(sql: Queryable, scope: Scope) {
  return sql`
    select posted.provider_id, posted.reference as subject, posted.created_at as at,
      'wallet' as account, 'credits' as unit, null::numeric as expected, entries.amount as posted
    from ledger_transactions as posted
    join ledger_entries as entries on entries.provider_id = posted.provider_id
      and transaction_ref = posted.reference and account = 'wallet' and unit = 'credits'
    where kind = 'top_up' and posted.created_at >= ${scope.from} and posted.created_at < ${scope.to}
      and not exists (
        select from payment_intents as paid
        where paid.provider_id = posted.provider_id and status = 'succeeded'
          and credits is not null and paid.reference = substr(transaction_key, length('top-up:') + 1))
      ${ofProvider(sql, 'posted', scope)}`
}
