import type { Queryable } from '@tollgate/platform/database/database'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { jsonb } from '../postgres/jsonb.ts'

export type OutboxEvent = {
  readonly eventId: string
  readonly providerId: string
  readonly type: string
  readonly livemode: boolean
  readonly object: JsonObject
  readonly previousAttributes: JsonObject | null
  readonly requestId: string | null
  readonly idempotencyKey: string | null
  readonly createdAt: Date
}

type OutboxRow = {
  event_id: string
  provider_id: string
  type: string
  livemode: boolean
  object: JsonObject
  previous_attributes: JsonObject | null
  request_id: string | null
  idempotency_key: string | null
  created_at: Date
}

export async function insertOutboxEvent(sql: Queryable, event: OutboxEvent): Promise<void> {
  await sql`
    insert into outbox
      (event_id, provider_id, type, livemode, object, previous_attributes, request_id,
       idempotency_key, created_at)
    values (${event.eventId}, ${event.providerId}, ${event.type}, ${event.livemode},
      ${jsonb(sql, event.object)}, ${jsonb(sql, event.previousAttributes)}, ${event.requestId},
      ${event.idempotencyKey}, ${event.createdAt})`
}

/** Forgets, in the events that told of it, who a customer is. That they were written stays, and of whom. */
export async function eraseCustomerEvents(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<void> {
  await sql`
    update outbox set previous_attributes = null,
      object = object || '{"name": null, "email": "", "telephone": null}'
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
}

/** The provider's events in the order they were written. */
export async function listOutboxEvents(
  sql: Queryable,
  providerId: string,
  rowsMax: number,
): Promise<OutboxEvent[]> {
  const rows = await sql<OutboxRow[]>`
    select * from outbox where provider_id = ${providerId} order by sequence limit ${rowsMax}`
  return rows.map(fromRow)
}

/** Newest first, those before the event with that id. */
export async function listNewestEvents(
  sql: Queryable,
  providerId: string,
  {
    type,
    before,
    rowsMax,
  }: {
    readonly type: string | undefined
    readonly before: string | undefined
    readonly rowsMax: number
  },
): Promise<OutboxEvent[]> {
  const rows = await sql<OutboxRow[]>`
    select * from outbox where provider_id = ${providerId}
    ${type === undefined ? sql`` : sql`and type = ${type}`}
    ${
      before === undefined
        ? sql``
        : sql`and sequence < (
            select sequence from outbox where provider_id = ${providerId} and event_id = ${before})`
    }
    order by sequence desc limit ${rowsMax}`
  return rows.map(fromRow)
}

export async function findOutboxEvent(
  sql: Queryable,
  providerId: string,
  eventId: string,
): Promise<OutboxEvent | undefined> {
  const [row] = await sql<OutboxRow[]>`
    select * from outbox where provider_id = ${providerId} and event_id = ${eventId}`
  return row === undefined ? undefined : fromRow(row)
}

function fromRow(row: OutboxRow): OutboxEvent {
  return {
    eventId: row.event_id,
    providerId: row.provider_id,
    type: row.type,
    livemode: row.livemode,
    object: row.object,
    previousAttributes: row.previous_attributes,
    requestId: row.request_id,
    idempotencyKey: row.idempotency_key,
    createdAt: row.created_at,
  }
}
