import type { Queryable } from '@tollgate/platform/database/database'
import type { WebhookSecret } from '@tollgate/domain/webhooks/endpoint'
import { envelopeText } from '@tollgate/domain/outbox/envelope'
import { redactSessionText } from '@tollgate/domain/outbox/redact-session'
import type { JsonObject } from '@tollgate/schemas/json-object'

/** First attempts, or later ones whose time has come. */
export type Turn = 'first' | 'retry'

export type Claim = {
  readonly turn: Turn
  readonly now: Date
  readonly leasedUntil: Date
  readonly deliveriesMax: number
  readonly perEndpointMax: number
  /** For endpoints that may not have so many. */
  readonly room: Readonly<Record<string, number>>
  /** Begins with the endpoint after this one: none is passed over while another one is served again. */
  readonly after: string
}

export type ClaimedDelivery = {
  readonly turn: Turn
  readonly providerId: string
  readonly reference: string
  readonly endpointRef: string
  readonly eventId: string
  /** Which claim this is: an outcome of an older one moves nothing. */
  readonly claim: number
  readonly attempts: number
  readonly firstAttemptAt: Date | null
  readonly createdAt: Date
  readonly url: string
  /** The bytes that are sent; null: the event is gone, or cannot be read. */
  readonly body: string | null
  readonly secrets: readonly WebhookSecret[]
}

export type Claimed = {
  readonly deliveries: readonly ClaimedDelivery[]
  /** How many there were to be claimed: others may have been faster. */
  readonly found: number
  /** The endpoint of the last of them. */
  readonly reached: string
  /** The last endpoint that was looked at, where there may be more behind it; empty where there are none. */
  readonly cutBehind: string
}

/** Of one endpoint's queue so many rows are looked at: those in hand stand in front, and one customer's behind each other. */
const windowRows = 64

/** Endpoints that one claim walks over at most. */
const endpointsMax = 256

/**
 * Takes deliveries, for which nobody else sends anything until the lease ends: one statement, so nothing is held while they
 * are sent. Walks from endpoint to endpoint, so that what waits for one costs the others nothing. Of what is told of one
 * customer, an endpoint gets the next first attempt when none is in hand, whatever came of the one before.
 *
 * Commits without waiting for the disk: a claim that the database loses is one that was never made, and at worst something is
 * sent twice.
 */
export async function claimDeliveries(sql: Queryable, claim: Claim): Promise<Claimed> {
  const { turn, now } = claim
  const rows = await sql<ClaimedRow[]>`
    with recursive ${candidates(sql, claim)},
    -- Looked at again as it is once it is locked: meanwhile somebody else may have sent it, and told what came of it.
    free as (
      select sequence from webhook_deliveries
      where sequence = any(array(select sequence from candidate))
        and ${isStillDue(sql, claim)} and (leased_until is null or leased_until <= ${now})
      for update skip locked
    ),
    unawaited as materialized (select set_config('synchronous_commit', 'off', true)),
    claimed as (
      update webhook_deliveries delivery set claim = delivery.claim + 1, leased_until = ${claim.leasedUntil}
      from free, unawaited where delivery.sequence = free.sequence
      returning delivery.*
    )
    select found, reached, cut_behind, claimed.provider_id, claimed.reference, claimed.endpoint_ref, claimed.event_id, claimed.claim, claimed.attempts,
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
        select coalesce(max(endpoint_ref) filter (where step = ${endpointsMax}), '') as cut_behind from walk
      ) cut
      left join claimed on true
      left join webhook_endpoints endpoint on endpoint.reference = claimed.endpoint_ref
      left join outbox event on event.event_id = claimed.event_id
    order by claimed.sequence`
  const { found, reached, cut_behind: cutBehind } = rows[0]!
  const deliveries = rows.flatMap((row) => (row.reference === null ? [] : [fromRow(row, turn)]))
  return { deliveries, found, reached, cutBehind }
}

/** `walk`: the endpoints with something in their queue. `candidate`: what may be sent to them now. */
function candidates(sql: Queryable, claim: Claim) {
  const { turn, now, after, room, perEndpointMax, deliveriesMax } = claim
  const isFirst = turn === 'first'
  const inTurn = isInTurn(sql, turn)
  // The order of one index alone: see `webhook_deliveries_new` in the migration 0012-events-and-webhooks.sql.
  const order = isFirst ? sql`sequence + 0` : sql`due_at, sequence`
  // A retry waits for nobody: who failed once has lost its place.
  const key = isFirst ? sql`coalesce(order_key, reference)` : sql`reference`
  return sql`
    walk as (
      (
        select endpoint_ref, 1 as step from webhook_deliveries
        where ${inTurn} and endpoint_ref > ${after}
        order by endpoint_ref limit 1
      )
      union all
      select further.endpoint_ref, walk.step + 1 from walk cross join lateral (
        select endpoint_ref from webhook_deliveries
        where ${inTurn} and endpoint_ref > walk.endpoint_ref
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

/** Written out for each of the two, so that its index is seen to fit. */
function isInTurn(sql: Queryable, turn: Turn) {
  return turn === 'first'
    ? sql`state = 'pending' and attempts = 0`
    : sql`state = 'pending' and attempts > 0`
}

function isDue(sql: Queryable, { turn, now }: Claim) {
  return turn === 'first' ? isInTurn(sql, turn) : sql`${isInTurn(sql, turn)} and due_at <= ${now}`
}

/** So written that no index of the queue fits: along it, all that waits would be read for the few that were chosen. */
function isStillDue(sql: Queryable, { turn, now }: Claim) {
  return turn === 'first'
    ? sql`state = 'pending' and least(attempts, 1) = 0`
    : sql`state = 'pending' and least(attempts, 1) = 1 and due_at <= ${now}`
}

type ClaimedRow = WalkedRow & (DeliveryRow | { readonly reference: null })

type WalkedRow = {
  readonly found: number
  readonly reached: string
  readonly cut_behind: string
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

/** As JSON has it. */
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

/** Whatever is wrong with one event, the others of the claim are sent. */
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
