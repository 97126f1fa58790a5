import type { TransactionSql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type { DisabledReason, EndpointStatus, WebhookEndpoint } from './endpoint.ts'

type EndpointRow = {
  provider_id: string
  reference: string
  url: string
  sends_links: boolean
  enabled_events: string[]
  status: EndpointStatus
  disabled_reason: DisabledReason | null
  disabled_at: Date | null
  failure_count: number
  failing_since: Date | null
  created_at: Date
  updated_at: Date
}

/** Keeps other transactions from creating an endpoint of the provider until this one ends. Returns the number of endpoints. */
export async function lockAndCountEndpoints(
  sql: TransactionSql,
  providerId: string,
): Promise<number> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended(${`webhook endpoints ${providerId}`}, 0))`
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from webhook_endpoints
    where provider_id = ${providerId} and status <> 'deleted'`
  return row!.count
}

export async function insertEndpoint(sql: Queryable, endpoint: WebhookEndpoint): Promise<void> {
  await sql`
    insert into webhook_endpoints (provider_id, reference, url, sends_links, enabled_events, status, created_at, updated_at)
    values (${endpoint.providerId}, ${endpoint.reference}, ${endpoint.url}, ${endpoint.sendsLinks}, ${[...endpoint.enabledEvents]},
      ${endpoint.status}, ${endpoint.createdAt}, ${endpoint.updatedAt})`
}

/** Returns endpoints, oldest first. */
export async function listEndpoints(
  sql: Queryable,
  providerId: string,
): Promise<WebhookEndpoint[]> {
  const rows = await sql<EndpointRow[]>`
    select * from webhook_endpoints where provider_id = ${providerId} and status <> 'deleted'
    order by created_at, reference`
  return rows.map(fromRow)
}

export async function findEndpoint(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<WebhookEndpoint | undefined> {
  const [row] = await sql<EndpointRow[]>`
    select * from webhook_endpoints
    where provider_id = ${providerId} and reference = ${reference} and status <> 'deleted'`
  return row === undefined ? undefined : fromRow(row)
}

/**
 * Returns an endpoint and keeps others from changing it or its secrets until the transaction ends. Deliveries for it can be created
 * meanwhile.
 */
export async function lockEndpoint(
  sql: TransactionSql,
  providerId: string,
  reference: string,
): Promise<WebhookEndpoint | undefined> {
  const [row] = await sql<EndpointRow[]>`
    select * from webhook_endpoints
    where provider_id = ${providerId} and reference = ${reference} and status <> 'deleted'
    for no key update`
  return row === undefined ? undefined : fromRow(row)
}

export async function updateEndpoint(sql: Queryable, endpoint: WebhookEndpoint): Promise<void> {
  await sql`
    update webhook_endpoints set url = ${endpoint.url}, sends_links = ${endpoint.sendsLinks}, enabled_events = ${[...endpoint.enabledEvents]},
      status = ${endpoint.status}, disabled_reason = ${endpoint.disabledReason},
      disabled_at = ${endpoint.disabledAt}, failure_count = ${endpoint.failureCount},
      failing_since = ${endpoint.failingSince}, updated_at = ${endpoint.updatedAt}
    where provider_id = ${endpoint.providerId} and reference = ${endpoint.reference}`
}

/** Marks an endpoint as deleted and deletes its secrets. Its row is deleted after the last of its deliveries. */
export async function deleteEndpoint(
  sql: Queryable,
  { providerId, reference }: Pick<WebhookEndpoint, 'providerId' | 'reference'>,
  now: Date,
): Promise<void> {
  await sql`
    delete from webhook_secrets where provider_id = ${providerId} and endpoint_ref = ${reference}`
  await sql`
    update webhook_endpoints
    set status = 'deleted', disabled_reason = null, disabled_at = null, updated_at = ${now}
    where provider_id = ${providerId} and reference = ${reference}`
}

export async function findTestedAt(
  sql: Queryable,
  { providerId, reference }: Pick<WebhookEndpoint, 'providerId' | 'reference'>,
): Promise<Date | null> {
  const [row] = await sql<{ tested_at: Date | null }[]>`
    select tested_at from webhook_endpoints
    where provider_id = ${providerId} and reference = ${reference}`
  return row?.tested_at ?? null
}

export async function setTestedAt(
  sql: Queryable,
  { providerId, reference }: Pick<WebhookEndpoint, 'providerId' | 'reference'>,
  testedAt: Date,
): Promise<void> {
  await sql`
    update webhook_endpoints set tested_at = ${testedAt}
    where provider_id = ${providerId} and reference = ${reference}`
}

function fromRow(row: EndpointRow): WebhookEndpoint {
  return {
    providerId: row.provider_id,
    reference: row.reference,
    url: row.url,
    sendsLinks: row.sends_links,
    enabledEvents: row.enabled_events,
    status: row.status,
    disabledReason: row.disabled_reason,
    disabledAt: row.disabled_at,
    failureCount: row.failure_count,
    failingSince: row.failing_since,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
