import type { Queryable } from '@tollgate/platform/database/database'
import { jsonb } from '../postgres/jsonb.ts'
import type { Alert, AlertSubject, AlertThreshold } from './alert.ts'

type AlertRow = {
  reference: string
  watches: AlertSubject
  limit_key: string | null
  plan_ref: string | null
  customer_ref: string | null
  thresholds: AlertThreshold[]
  created_at: Date
  updated_at: Date
}

/** Returns false if the place of the alert has one already. */
export async function insertAlert(
  sql: Queryable,
  providerId: string,
  alert: Alert,
): Promise<boolean> {
  const rows = await sql`
    insert into alerts
      (provider_id, reference, watches, limit_key, plan_ref, customer_ref, thresholds, created_at, updated_at)
    values (${providerId}, ${alert.reference}, ${alert.watches}, ${alert.limitKey}, ${alert.planRef},
      ${alert.customerRef}, ${jsonb(sql, alert.thresholds)}, ${alert.createdAt}, ${alert.updatedAt})
    on conflict do nothing
    returning reference`
  return rows.length > 0
}

export async function findAlert(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<Alert | undefined> {
  const [row] = await sql<AlertRow[]>`
    select * from alerts where provider_id = ${providerId} and reference = ${reference}`
  return row === undefined ? undefined : fromRow(row)
}

/** Returns undefined if there is no such alert. */
export async function updateThresholds(
  sql: Queryable,
  providerId: string,
  reference: string,
  thresholds: readonly AlertThreshold[],
  now: Date,
): Promise<Alert | undefined> {
  const [row] = await sql<AlertRow[]>`
    update alerts set thresholds = ${jsonb(sql, thresholds)}, updated_at = ${now}
    where provider_id = ${providerId} and reference = ${reference}
    returning *`
  return row === undefined ? undefined : fromRow(row)
}

/** Returns false if there is no such alert. */
export async function deleteAlert(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<boolean> {
  const deleted = await sql`
    delete from alerts where provider_id = ${providerId} and reference = ${reference}`
  return deleted.count > 0
}

export type AlertFilter = {
  readonly customerRef?: string | undefined
  readonly planRef?: string | undefined
}

/** Returns a page of the alerts, oldest first. */
export async function listAlerts(
  sql: Queryable,
  providerId: string,
  { customerRef, planRef }: AlertFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<Alert[]> {
  const rows = await sql<AlertRow[]>`
    select * from alerts where provider_id = ${providerId}
      ${customerRef === undefined ? sql`` : sql`and customer_ref = ${customerRef}`}
      ${planRef === undefined ? sql`` : sql`and plan_ref = ${planRef}`}
    order by created_at, reference limit ${limit} offset ${offset}`
  return rows.map(fromRow)
}

/** Returns the number of alerts that are not of one customer. Each check of a customer reads them. */
export async function countSharedAlerts(sql: Queryable, providerId: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from alerts
    where provider_id = ${providerId} and customer_ref is null`
  return row!.total
}

/** Returns the alerts that may apply to a customer: its own, those of plans, and the defaults. */
export async function listAlertsFor(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<Alert[]> {
  const rows = await sql<AlertRow[]>`
    select * from alerts
    where provider_id = ${providerId} and (customer_ref is null or customer_ref = ${customerRef})
    order by reference`
  return rows.map(fromRow)
}

function fromRow(row: AlertRow): Alert {
  return {
    reference: row.reference,
    watches: row.watches,
    limitKey: row.limit_key,
    planRef: row.plan_ref,
    customerRef: row.customer_ref,
    thresholds: row.thresholds,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** Removes the alerts of a customer who was deleted, and the pending check. */
export async function removeCustomerAlerts(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<void> {
  const ofCustomer = sql`where provider_id = ${providerId} and customer_ref = ${customerRef}`
  await sql`delete from alerts ${ofCustomer}`
  await sql`delete from alert_checks ${ofCustomer}`
}
