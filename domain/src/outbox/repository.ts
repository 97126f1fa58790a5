import type { Queryable } from '@tollgate/platform/database/database'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { jsonb } from '../postgres/jsonb.ts'
import { dispatcherChannel } from './dispatcher-channel.ts'
import { emailKindOf } from './email-kind.ts'
import { envelopeText } from './envelope.ts'
import type { OutboxEvent } from './outbox-event.ts'

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

/**
 * Appends events, and in the same statement one delivery for each of the provider's endpoints that receives the type, and one email
 * if the provider sends that kind, unless the event says that it sends none. Events that already exist are left unchanged. Returns the
 * number of new events.
 *
 * Events of customers on test clocks are dated days ahead or more. Their rows say when they were recorded in real time.
 *
 * The reference of a delivery is derived from those of its event and its endpoint, so that each pair has one delivery. The
 * reference of an email is derived from that of its event.
 */
export async function insertOutboxEvents(
  sql: Queryable,
  events: readonly (OutboxEvent & { readonly sendsNoEmail?: boolean })[],
): Promise<number> {
  const rows = events.map(({ sendsNoEmail, ...event }) => ({
    ...event,
    body: envelopeText(event),
    emailKind: sendsNoEmail === true ? null : emailKindOf(event),
  }))
  const [counted] = await sql<{ inserted: number }[]>`
    with event as (
      select * from jsonb_to_recordset(${jsonb(sql, rows)}) as event (
        "eventId" text, "providerId" text, type text, livemode boolean, object jsonb, "previousAttributes" jsonb,
        "requestId" text, "idempotencyKey" text, "createdAt" timestamptz, body text, "emailKind" text)
    ),
    inserted as (
      insert into outbox
        (event_id, provider_id, type, livemode, object, previous_attributes, request_id, idempotency_key, created_at, recorded_at, body)
      select "eventId", "providerId", type, livemode, object, "previousAttributes", "requestId",
        "idempotencyKey", "createdAt", case when "createdAt" > now() + interval '1 day' then now() end, body
      from event
      on conflict (event_id) do nothing
      returning event_id, sequence, order_key, recorded_at
    ),
    delivery as (
      insert into webhook_deliveries
        (provider_id, reference, endpoint_ref, event_id, event_type, order_key, state, due_at, created_at, recorded_at)
      select event."providerId", 'dlv_' || substr(event."eventId", 5) || substr(endpoint.reference, 4),
        endpoint.reference, event."eventId", event.type, inserted.order_key,
        case endpoint.status when 'enabled' then 'pending' else 'held' end,
        least(event."createdAt", now()), event."createdAt", inserted.recorded_at
      from inserted
        join event on event."eventId" = inserted.event_id
        join webhook_endpoints endpoint on endpoint.provider_id = event."providerId"
          and endpoint.status in ('enabled', 'disabled')
          and (endpoint.enabled_events = '{}' or event.type = any(endpoint.enabled_events))
      order by inserted.sequence
      returning state
    ),
    email as (
      insert into emails (provider_id, reference, event_id, kind, customer_ref, state, due_at, created_at)
      select event."providerId", 'eml_' || substr(event."eventId", 5), event."eventId", event."emailKind",
        inserted.order_key, 'pending', least(event."createdAt", now()), event."createdAt"
      from inserted
        join event on event."eventId" = inserted.event_id and event."emailKind" is not null
        join email_settings settings on settings.provider_id = event."providerId"
          and event."emailKind" = any(settings.kinds)
      order by inserted.sequence
    ),
    told as (
      select pg_notify(${dispatcherChannel}, current_schema)
      where exists (select from delivery where state = 'pending')
    )
    select (select count(*)::int from inserted) as inserted, (select count(*) from told) as told`
  return counted!.inserted
}

/**
 * Erases a customer's personal data from its events. The events and the customer's reference stay. Later deliveries of them are
 * sent without the erased data.
 */
export async function eraseCustomerEvents(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<void> {
  await sql`
    update outbox set previous_attributes = null, body = null,
      object = object || '{"name": null, "email": "", "telephone": null}'
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
}

/** Returns the provider's events in the order in which they were written. */
export async function listOutboxEvents(
  sql: Queryable,
  providerId: string,
  rowsMax: number,
): Promise<OutboxEvent[]> {
  const rows = await sql<OutboxRow[]>`
    select * from outbox where provider_id = ${providerId} order by sequence limit ${rowsMax}`
  return rows.map(fromRow)
}

/** Returns events newest first, starting before the event with the id `before`. */
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
