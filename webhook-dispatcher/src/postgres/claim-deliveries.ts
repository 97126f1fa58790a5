import type { Queryable } from '@tollgate/platform/database/database'
import type { WebhookSecret } from '@tollgate/domain/webhooks/endpoint'
import { envelopeText } from '@tollgate/domain/outbox/envelope'
import { redactSessionText } from '@tollgate/domain/outbox/redact-session'
import type { JsonObject } from '@tollgate/schemas/json-object'

/** `first` claims first attempts, `retry` claims later attempts that are due. */
export type Turn = 'first' | 'retry'

export type Claim = {
  readonly turn: Turn
  readonly now: Date
  readonly leasedUntil: Date
  readonly deliveriesMax: number
  readonly perEndpointMax: number
  /** Available places of endpoints that have fewer than `perEndpointMax`, by reference. */
  readonly room: Readonly<Record<string, number>>
  /** The claim begins with the endpoint after this reference, so that every endpoint is served before one is served again. */
  readonly after: string
}

export type ClaimedDelivery = {
  readonly turn: Turn
  readonly providerId: string
  readonly reference: string
  readonly endpointRef: string
  readonly eventId: string
  /** Number of this claim. The outcome of an older claim is stored but does not change the delivery. */
  readonly claim: number
  readonly attempts: number
  readonly firstAttemptAt: Date | null
  readonly createdAt: Date
  readonly url: string
  /** The request body, or null if the event is gone or cannot be read. */
  readonly body: string | null
  readonly secrets: readonly WebhookSecret[]
}

export type Claimed = {
  readonly deliveries: readonly ClaimedDelivery[]
  /** Number of claimable deliveries that were found. Other dispatchers may have locked some of them first. */
  readonly found: number
  /** Endpoint of the last delivery that was found. */
  readonly reached: string
  /** The last endpoint of the walk if it reached its limit, so that more endpoints may follow. Empty otherwise. */
  readonly truncatedAt: string
}

/**
 * Rows read at the head of the queue of one endpoint. Leased deliveries are in front, and deliveries of one customer follow each
 * other.
 */
const windowRows = 64

/** Maximum endpoints that one claim visits. */
const endpointsMax = 256

/**
 * Claims deliveries until `leasedUntil`. No other dispatcher sends them before the lease expires. It is one statement, so no
 * transaction stays open while they are sent. It visits one endpoint after the other, so a long queue of one endpoint does not slow
 * down the others. An endpoint gets the first attempt for a customer's next event only when none of that customer's events is in
 * flight to it, whatever the outcome of the previous one.
 *
 * Commits without waiting for the disk. A claim that PostgreSQL loses in a crash never happened; at worst its deliveries are sent
 * twice.
 */
export async function claimDeliveries(sql: Queryable, claim: Claim): Promise<Claimed> {
  const { turn, now } = claim
  const rows = await sql<ClaimedRow[]>`
    with recursive ${candidates(sql, claim)},
    -- Checked again after the lock: another dispatcher may have sent the delivery and stored its outcome in between.
    free as (
      select sequence from webhook_deliveries
      where sequence = any(array(select sequence from candidate))
        and ${isStillDue(sql, claim)} and (leased_until is null or leased_until <= ${now})
      for update skip locked
    ),
    async_commit as materialized (select set_config('synchronous_commit', 'off', true)),
    claimed as (
      update webhook_deliveries delivery set claim = delivery.claim + 1, leased_until = ${claim.leasedUntil}
      from free, async_commit where delivery.sequence = free.sequence
      returning delivery.*
    )
    select found, reached, truncated_at, claimed.provider_id, claimed.reference, claimed.endpoint_ref, claimed.event_id, claimed.claim, claimed.attempts,
      claimed.first_attempt_at, claimed.created_at, endpoint.url,
      endpoint.sends_links, event.body,
      case when event.body is null then to_jsonb(event) end as event,
      (
        select coalesce(jsonb_agg(jsonb_build_object('reference', reference, 'sealed', secret, 'signsFirst', signs_first,
          'createdAt', created_at, 'expiresAt', expires_at)), '[]')
        from webhook_secrets secret
        where secret.provider_id = claimed.provider_id and secret.endpoint_ref = claimed.endpoint_ref
      ) as secrets
    from (select count(*)::int as found, coalesce(max(endpoint_ref), '') as reached from candidate) walked
      cross join (
        select coalesce(max(endpoint_ref) filter (where step = ${endpointsMax}), '') as truncated_at from walk
      ) cut
      left join claimed on true
      left join webhook_endpoints endpoint on endpoint.reference = claimed.endpoint_ref
      left join outbox event on event.event_id = claimed.event_id
    order by claimed.sequence`
  const { found, reached, truncated_at: truncatedAt } = rows[0]!
  const deliveries = rows.flatMap((row) => (row.reference === null ? [] : [fromRow(row, turn)]))
  return { deliveries, found, reached, truncatedAt }
}

/** Common table expressions: `walk` lists the endpoints with queued deliveries, `candidate` the deliveries that may be sent now. */
function candidates(sql: Queryable, claim: Claim) {
  const { turn, now, after, room, perEndpointMax, deliveriesMax } = claim
  const isFirst = turn === 'first'
  const isOfTurn = turnCondition(sql, turn)
  // The order of one index alone: see `webhook_deliveries_new` in the migration 0012-events-and-webhooks.sql.
  const order = isFirst ? sql`sequence + 0` : sql`due_at, sequence`
  // Retries do not wait for other deliveries of the same customer: a delivery that failed has lost its place in the order.
  const key = isFirst ? sql`coalesce(order_key, reference)` : sql`reference`
  return sql`
    walk as (
      (
        select endpoint_ref, 1 as step from webhook_deliveries
        where ${isOfTurn} and endpoint_ref > ${after}
        order by endpoint_ref limit 1
      )
      union all
      select further.endpoint_ref, walk.step + 1 from walk cross join lateral (
        select endpoint_ref from webhook_deliveries
        where ${isOfTurn} and endpoint_ref > walk.endpoint_ref
        order by endpoint_ref limit 1
      ) further
      where walk.step < ${endpointsMax}
    ),
    candidate as (
      select chosen.sequence, walk.endpoint_ref
      from walk
      cross join lateral (
        select coalesce((${sql.json(room)}::jsonb ->> reference)::int, ${perEndpointMax}) as room
        from webhook_endpoints where reference = walk.endpoint_ref and status = 'enabled' limit 1
      ) endpoint
      cross join lateral (
        select sequence, row_number() over (order by ${order}) as place
        from (
          select sequence, due_at, is_leased, row_number() over (partition by key order by is_leased desc, ${order}) as behind
          from (
            select sequence, due_at, ${key} as key, coalesce(leased_until > ${now}, false) as is_leased
            from webhook_deliveries
            where ${isDue(sql, claim)} and endpoint_ref = walk.endpoint_ref and endpoint.room > 0
            order by ${order} limit ${windowRows}
          ) front
        ) ranked
        where not is_leased and behind = 1
      ) chosen
      where chosen.place <= endpoint.room
      limit ${deliveriesMax}
    )`
}

/** Spelled out for each turn, so that PostgreSQL recognizes the partial index. */
function turnCondition(sql: Queryable, turn: Turn) {
  return turn === 'first'
    ? sql`state = 'pending' and attempts = 0`
    : sql`state = 'pending' and attempts > 0`
}

function isDue(sql: Queryable, { turn, now }: Claim) {
  return turn === 'first'
    ? turnCondition(sql, turn)
    : sql`${turnCondition(sql, turn)} and due_at <= ${now}`
}

/** Written so that no index of the queue fits. With one, PostgreSQL would scan the whole queue to recheck the few chosen rows. */
function isStillDue(sql: Queryable, { turn, now }: Claim) {
  return turn === 'first'
    ? sql`state = 'pending' and least(attempts, 1) = 0`
    : sql`state = 'pending' and least(attempts, 1) = 1 and due_at <= ${now}`
}

type ClaimedRow = WalkedRow & (DeliveryRow | { readonly reference: null })

type WalkedRow = {
  readonly found: number
  readonly reached: string
  readonly truncated_at: string
}

type DeliveryRow = {
  readonly provider_id: string
  readonly reference: string
  readonly endpoint_ref: string
  readonly event_id: string
  readonly claim: number
  readonly attempts: number
  readonly first_attempt_at: Date | null
  readonly created_at: Date
  readonly url: string
  readonly sends_links: boolean
  readonly body: string | null
  readonly event: EventRow | null
  readonly secrets: readonly SecretRow[]
}

/** A row of the outbox as `to_jsonb` returns it. */
type EventRow = {
  readonly event_id: string
  readonly provider_id: string
  readonly type: string
  readonly livemode: boolean
  readonly object: JsonObject
  readonly previous_attributes: JsonObject | null
  readonly request_id: string | null
  readonly idempotency_key: string | null
  readonly created_at: string
}

type SecretRow = Omit<WebhookSecret, 'createdAt' | 'expiresAt'> & {
  readonly createdAt: string
  readonly expiresAt: string | null
}

function fromRow(row: DeliveryRow, turn: Turn): ClaimedDelivery {
  return {
    turn,
    providerId: row.provider_id,
    reference: row.reference,
    endpointRef: row.endpoint_ref,
    eventId: row.event_id,
    claim: row.claim,
    attempts: row.attempts,
    firstAttemptAt: row.first_attempt_at,
    createdAt: row.created_at,
    url: row.url,
    body: sentText(row),
    secrets: row.secrets.map((secret) => ({
      ...secret,
      createdAt: new Date(secret.createdAt),
      expiresAt: secret.expiresAt === null ? null : new Date(secret.expiresAt),
    })),
  }
}

function sentText({ body, event, sends_links: sendsLinks }: DeliveryRow): string | null {
  const text = body ?? (event === null ? null : bodyOf(event))
  return text === null || sendsLinks ? text : redactSessionText(text)
}

/** Returns null for an event that cannot be written as text, so that the other deliveries of the claim are still sent. */
function bodyOf(event: EventRow): string | null {
  try {
    return envelopeText({
      eventId: event.event_id,
      providerId: event.provider_id,
      type: event.type,
      livemode: event.livemode,
      object: event.object,
      previousAttributes: event.previous_attributes,
      requestId: event.request_id,
      idempotencyKey: event.idempotency_key,
      createdAt: new Date(event.created_at),
    })
  } catch {
    return null
  }
}
