import type { Queryable } from '@tollgate/platform/database/database'
import type { ReachedThreshold } from '../alerts/firings-repository.ts'

/* Limits, invoices and webhook endpoints that need the attention of the provider. */

export type ReachedLimit = {
  readonly customerRef: string
  readonly reachedAt: Date
  /** The event that was sent for the highest threshold. */
  readonly object: ReachedThreshold
}

/** Firings that are read for one list. A customer has a few of them in each period. */
const firingsMax = 500

/**
 * Returns the customers who reached a threshold of a limit in a running period, the newest first, with the highest threshold of each
 * limit. Without an alert the list is empty.
 */
export async function listNearLimits(
  sql: Queryable,
  providerId: string,
  now: Date,
  rowsMax: number,
): Promise<ReachedLimit[]> {
  const rows = await sql<{ customer_ref: string; fired_at: Date; object: ReachedThreshold }[]>`
    select distinct on (customer_ref, subject) customer_ref, fired_at, object
    from (
      select customer_ref, subject, fired_at, object, period_end from alert_firings
      where provider_id = ${providerId} order by fired_at desc limit ${firingsMax}
    ) as newest
    where (period_end is null or period_end > ${now}) and object ->> 'watches' = 'limit'
    order by customer_ref, subject, (object ->> 'threshold')::numeric desc`
  return rows
    .map((row) => ({ customerRef: row.customer_ref, reachedAt: row.fired_at, object: row.object }))
    .sort((one, other) => other.reachedAt.getTime() - one.reachedAt.getTime())
    .slice(0, rowsMax)
}

export type FailingInvoice = {
  readonly reference: string
  readonly customerRef: string
  readonly currency: string
  readonly dueMinor: bigint
  readonly failedCharges: number
  readonly failedAt: Date
  readonly nextChargeAt: Date | null
}

/** Returns the number of open invoices whose last charge failed, and the newest of them. */
export async function listFailingInvoices(
  sql: Queryable,
  providerId: string,
  rowsMax: number,
): Promise<{ readonly total: number; readonly newest: FailingInvoice[] }> {
  const [count] = await sql<{ total: number }[]>`
    select count(*)::int as total from invoices
    where provider_id = ${providerId} and status = 'open' and failed_charges > 0`
  const rows = await sql<
    {
      reference: string
      customer_ref: string
      currency: string
      due: string
      failed_charges: number
      updated_at: Date
      next_charge_at: Date | null
    }[]
  >`
    select reference, customer_ref, currency, (total - carried - credited - paid)::text as due, failed_charges,
      updated_at, next_charge_at
    from invoices where provider_id = ${providerId} and status = 'open' and failed_charges > 0
    order by updated_at desc limit ${rowsMax}`
  return {
    total: count!.total,
    newest: rows.map((row) => ({
      reference: row.reference,
      customerRef: row.customer_ref,
      currency: row.currency,
      dueMinor: BigInt(row.due),
      failedCharges: row.failed_charges,
      failedAt: row.updated_at,
      nextChargeAt: row.next_charge_at,
    })),
  }
}

/** Returns whether an alert watches limits, without which `listNearLimits` is empty. */
export async function hasLimitAlert(sql: Queryable, providerId: string): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (
      select from alerts
      where provider_id = ${providerId} and watches = 'limit' and thresholds <> '[]'
    ) as found`
  return row!.found
}

export type FailingEndpoint = {
  readonly reference: string
  readonly status: 'enabled' | 'disabled'
  readonly failureCount: number
  readonly since: Date | null
}

/** Returns the endpoints that were disabled because of failures, and those whose last attempts failed. */
export async function listFailingEndpoints(
  sql: Queryable,
  providerId: string,
): Promise<FailingEndpoint[]> {
  return sql<FailingEndpoint[]>`
    select reference, status, failure_count as "failureCount", coalesce(disabled_at, failing_since) as since
    from webhook_endpoints
    where provider_id = ${providerId}
      and ((status = 'disabled' and disabled_reason <> 'provider')
        or (status = 'enabled' and failing_since is not null))
    order by since, reference`
}
