import type { Queryable } from '@tollgate/platform/database/database'
import { jobActor, setActor } from '@tollgate/domain/audit/actor'
import { jsonb } from '@tollgate/domain/postgres/jsonb'
import type { AttemptRecord } from '../domain/attempt-record.ts'
import type { EndpointHealth } from '../domain/endpoint-health.ts'
import type { Pool } from './pool.ts'

export const dispatcherActor = jobActor('webhook-dispatcher')

/** The attempts of one claim, and the resulting state of the delivery. */
export type Outcome = {
  readonly providerId: string
  readonly deliveryRef: string
  readonly claim: number
  /** `pending`: the delivery is retried at `dueAt`. */
  readonly state: 'pending' | 'succeeded' | 'failed'
  readonly dueAt: Date | null
  readonly endedAt: Date
  /** Two if the delivery was sent again at once with its signatures in reverse order. */
  readonly attempts: readonly AttemptRecord[]
}

export type DisabledEndpoint = { readonly reference: string; readonly reason: string }

/**
 * Stores attempts, updates their deliveries and disables endpoints, in one statement. If another dispatcher has claimed the
 * delivery since, its attempt is stored as late and the delivery is not changed. Running the statement again with the same outcomes
 * has no effect.
 *
 * Commits without waiting for the disk. If PostgreSQL loses outcomes in a crash, their deliveries are sent again, as after a crash
 * of the dispatcher.
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
    setActor(sql, dispatcherActor)
    return sql<DisabledEndpoint[]>`
      with move as (
        select * from jsonb_to_recordset(${jsonb(sql, moves)}) as move (
          "deliveryRef" text, claim int, state text, "dueAt" timestamptz, "endedAt" timestamptz, "startedAt" timestamptz)
      ),
      async_commit as materialized (select set_config('synchronous_commit', 'off', true)),
      ${updatedEndpoints(sql, health, now)},
      -- Every transaction locks endpoints first, then deliveries, each in ascending order, which avoids deadlocks.
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
        from locked, async_commit where delivery.sequence = locked.sequence
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

/** Common table expressions: `updated` lists the endpoints whose health changed, with the reason if they are disabled. */
function updatedEndpoints(sql: Queryable, health: readonly EndpointHealth[], now: Date) {
  return sql`
      report as (
        select * from jsonb_to_recordset(${jsonb(sql, health)}) as report (
          "endpointRef" text, "hasSucceeded" boolean, failures int, "failingSince" timestamptz,
          "exhaustedSince" timestamptz, "isGone" boolean)
      ),
      changed as (
        select endpoint.reference, failures, streak.since,
          case
            when endpoint.status <> 'enabled' then null
            when report."isGone" then 'gone'
            when report."exhaustedSince" >= streak.since then 'attempts'
          end as reason,
          case when report."hasSucceeded" then 0 else endpoint.failure_count end + report.failures as failure_count
        from report
          join webhook_endpoints endpoint on endpoint.reference = report."endpointRef"
          cross join lateral (
            select case when report."hasSucceeded" then report."failingSince"
              else coalesce(endpoint.failing_since, report."failingSince") end as since
          ) streak
        where report.failures > 0 or endpoint.failure_count > 0
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
