import type { Queryable } from '@tollgate/platform/database/database'
import { jobActor, nameActor } from '@tollgate/domain/audit/actor'
import { jsonb } from '@tollgate/domain/postgres/jsonb'
import type { AttemptRecord } from '../domain/attempt-record.ts'
import type { EndpointHealth } from '../domain/endpoint-health.ts'
import type { Pool } from './pool.ts'

export const dispatcherActor = jobActor('webhook-dispatcher')

/** What came of one attempt, and what becomes of its delivery. */
export type Outcome = {
  readonly providerId: string
  readonly deliveryRef: string
  readonly claim: number
  /** Pending: it is tried again at `dueAt`. */
  readonly state: 'pending' | 'succeeded' | 'failed'
  readonly dueAt: Date | null
  readonly endedAt: Date
  /** More than one where the signatures were turned round and it was sent at once again. */
  readonly attempts: readonly AttemptRecord[]
}

export type DisabledEndpoint = { readonly reference: string; readonly reason: string }

/**
 * Records attempts, moves their deliveries on and disables endpoints that are to get no more, in one statement. An outcome
 * of a claim that somebody else has taken over is recorded and moves nothing, and one that is recorded already does nothing:
 * the statement may be run again.
 *
 * Commits without waiting for the disk: what the database loses is sent again, as if the process had died before.
 */
export async function recordOutcomes(
  pool: Pool,
  outcomes: readonly Outcome[],
  health: readonly EndpointHealth[],
  now: Date,
): Promise<DisabledEndpoint[]> {
  const moves = outcomes.map(({ attempts: [first], ...outcome }) => ({
    ...outcome,
    startedAt: first!.startedAt,
  }))
  return pool.begin(async (sql) => {
    nameActor(sql, dispatcherActor)
    return sql<DisabledEndpoint[]>`
      with move as (
        select * from jsonb_to_recordset(${jsonb(sql, moves)}) as move (
          "deliveryRef" text, claim int, state text, "dueAt" timestamptz, "endedAt" timestamptz, "startedAt" timestamptz)
      ),
      unawaited as materialized (select set_config('synchronous_commit', 'off', true)),
      ${updatedEndpoints(sql, health, now)},
      -- Endpoints are locked first, then deliveries, each in their order: as by all others that lock more than one.
      locked as (
        select delivery.sequence, move.*
        from move join webhook_deliveries delivery on delivery.reference = move."deliveryRef"
          cross join (select count(*) from changed) behind
        where delivery.claim = move.claim and delivery.leased_until is not null
        order by delivery.sequence
        for no key update of delivery
      ),
      moved as (
        update webhook_deliveries delivery
        set attempts = delivery.attempts + 1, leased_until = null,
          state = case locked.state when 'pending' then delivery.state else locked.state end,
          due_at = coalesce(locked."dueAt", delivery.due_at),
          first_attempt_at = coalesce(delivery.first_attempt_at, locked."startedAt"),
          finished_at = case locked.state when 'pending' then delivery.finished_at else locked."endedAt" end
        from locked, unawaited where delivery.sequence = locked.sequence
        returning delivery.reference
      ),
      ${recordedAttempts(sql, outcomes)}
      select reference, reason from updated where reason is not null`
  })
}

function recordedAttempts(sql: Queryable, outcomes: readonly Outcome[]) {
  const attempts = outcomes.flatMap((outcome) =>
    outcome.attempts.map((attempt) => ({
      ...attempt,
      providerId: outcome.providerId,
      deliveryRef: outcome.deliveryRef,
      claim: outcome.claim,
    })),
  )
  return sql`
      attempted as (
        insert into webhook_attempts
          (provider_id, delivery_ref, number, claim, is_reversed, started_at, duration_ms, connect_ms, answer_ms, status,
           error_class, answer, address, is_late)
        select "providerId", "deliveryRef", number, claim, "isReversed", "startedAt", "durationMs", "connectMs", "answerMs",
          status, "errorClass", answer, address, not exists (select from moved where reference = "deliveryRef")
        from jsonb_to_recordset(${jsonb(sql, attempts)}) as attempt (
          "providerId" text, "deliveryRef" text, number smallint, claim int, "isReversed" boolean, "startedAt" timestamptz,
          "durationMs" int, "connectMs" int, "answerMs" int, status smallint, "errorClass" text, answer text, address text)
        on conflict do nothing
      )`
}

/** `updated`: endpoints that do otherwise than before, and why they are disabled, if they are. */
function updatedEndpoints(sql: Queryable, health: readonly EndpointHealth[], now: Date) {
  return sql`
      news as (
        select * from jsonb_to_recordset(${jsonb(sql, health)}) as news (
          "endpointRef" text, "hasSucceeded" boolean, failures int, "failingSince" timestamptz,
          "exhaustedSince" timestamptz, "isGone" boolean)
      ),
      changed as (
        select endpoint.reference, failures, streak.since,
          case
            when endpoint.status <> 'enabled' then null
            when news."isGone" then 'gone'
            when news."exhaustedSince" >= streak.since then 'attempts'
          end as reason,
          case when news."hasSucceeded" then 0 else endpoint.failure_count end + news.failures as failure_count
        from news
          join webhook_endpoints endpoint on endpoint.reference = news."endpointRef"
          cross join lateral (
            select case when news."hasSucceeded" then news."failingSince"
              else coalesce(endpoint.failing_since, news."failingSince") end as since
          ) streak
        where news.failures > 0 or endpoint.failure_count > 0
        order by endpoint.reference
        for no key update of endpoint
      ),
      updated as (
        update webhook_endpoints endpoint
        set failure_count = changed.failure_count, failing_since = changed.since,
          status = case when reason is null then status else 'disabled' end,
          disabled_reason = coalesce(reason, disabled_reason),
          disabled_at = case when reason is null then disabled_at else ${now}::timestamptz end,
          updated_at = case when reason is null then updated_at else ${now}::timestamptz end
        from changed where endpoint.reference = changed.reference
        returning endpoint.reference, changed.reason
      )`
}
