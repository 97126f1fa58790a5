import type { Queryable } from '@tollgate/platform/database/database'
import { statusesNotWon } from '../invoices/disputes.ts'

/** Days of a time zone, for which amounts are added up. */
export type DayRange = {
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
  readonly timeZone: string
}

/** Amounts of one day in one currency, in minor units and with tax. */
export type MoneyOfDay = {
  /** Date in the time zone: `2026-03-01`. */
  readonly day: string
  readonly currency: string
  /** Payments that succeeded, and invoices that were paid outside of the payment processor. */
  readonly paidMinor: bigint
  /** Refunds that succeeded by the day on which they were requested, and balances that were paid out. */
  readonly refundedMinor: bigint
  /** Disputed payments that are not won, by the day of the dispute. */
  readonly disputedMinor: bigint
}

/**
 * Returns what was paid and returned by day and currency, the oldest first. Days without money are absent. Each part reads an index by
 * time. A refund or dispute changes the day on which it began, and never the day of the payment.
 */
export async function listMoneyByDay(
  sql: Queryable,
  providerId: string,
  { from, to, timeZone }: DayRange,
): Promise<MoneyOfDay[]> {
  const rows = await sql<
    { day: string; currency: string; paid: bigint; refunded: bigint; disputed: bigint }[]
  >`
    select to_char(at at time zone ${timeZone}::text, 'YYYY-MM-DD') as day, currency,
      sum(paid)::bigint as paid, sum(refunded)::bigint as refunded, sum(disputed)::bigint as disputed
    from (
      select succeeded_at as at, currency, original_amount::numeric as paid, 0::numeric as refunded, 0::numeric as disputed
      from payment_intents
      where provider_id = ${providerId} and succeeded_at >= ${from} and succeeded_at < ${to}
      union all
      select decision.created_at, invoices.currency, decision.amount, 0, 0
      from invoice_decisions decision
      join invoices on invoices.provider_id = decision.provider_id and invoices.reference = decision.invoice_ref
      where decision.provider_id = ${providerId} and decision.kind = 'paid_outside'
        and decision.created_at >= ${from} and decision.created_at < ${to}
      union all
      select created_at, currency, 0, amount, 0 from payment_refunds
      where provider_id = ${providerId} and created_at >= ${from} and created_at < ${to} and status = 'succeeded'
      union all
      select created_at, currency, 0, amount, 0 from balance_payouts
      where provider_id = ${providerId} and created_at >= ${from} and created_at < ${to} and goes_to = 'other'
      union all
      select created_at, currency, 0, 0, amount from payment_disputes
      where provider_id = ${providerId} and created_at >= ${from} and created_at < ${to}
        and status in ${sql(statusesNotWon)}
    ) as moved
    group by day, currency order by day, currency`
  return rows.map(({ day, currency, paid, refunded, disputed }) => ({
    day,
    currency,
    paidMinor: BigInt(paid),
    refundedMinor: BigInt(refunded),
    disputedMinor: BigInt(disputed),
  }))
}

/**
 * Returns the credits that were bought by day of the time zone, in 10^-6 credits, less those that were removed because their payment was
 * refunded or disputed.
 */
export async function listCreditsSoldByDay(
  sql: Queryable,
  providerId: string,
  { from, to, timeZone }: DayRange,
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await sql<{ day: string; micros: string }[]>`
    select to_char(at at time zone ${timeZone}::text, 'YYYY-MM-DD') as day, sum(micros)::text as micros
    from (
      select created_at as at, granted_micros as micros from credit_grants
      where provider_id = ${providerId} and paid is not null and created_at >= ${from} and created_at < ${to}
      union all
      select created_at, -taken_micros from credit_take_backs
      where provider_id = ${providerId} and taken_micros is not null and given_back_at is null
        and created_at >= ${from} and created_at < ${to}
    ) as sold
    group by day`
  return new Map(rows.map(({ day, micros }) => [day, BigInt(micros)]))
}
