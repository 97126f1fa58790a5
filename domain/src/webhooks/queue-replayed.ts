import type { Fragment, TransactionSql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type { WebhookDelivery } from './delivery.ts'
import type { WebhookReplay } from './replay.ts'

/*
 * Deliveries created again by a replay: of the same event, to the same endpoint, as new rows. Their references are derived from the
 * replay and the event, so a replay has one delivery for each event.
 */

/** Returns the number of the endpoint's deliveries that wait for their first attempt, at most `countMax`. */
export async function countWaitingOfEndpoint(
  sql: Queryable,
  endpointRef: string,
  countMax: number,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from webhook_deliveries
      where endpoint_ref = ${endpointRef} and state = 'pending' and attempts = 0 limit ${countMax}
    ) waiting`
  return row!.count
}

export async function queueReplayedDelivery(
  sql: TransactionSql,
  replayRef: string,
  delivery: Pick<WebhookDelivery, 'providerId' | 'reference'>,
  now: Date,
): Promise<string> {
  const [row] = await sql<{ reference: string }[]>`
    insert into webhook_deliveries
      (provider_id, reference, endpoint_ref, event_id, event_type, order_key, replay_ref, state, due_at, created_at)
    select delivery.provider_id, ${referenceOf(sql, replayRef)}, endpoint_ref, event_id, event_type, order_key,
      ${replayRef}, case endpoint.status when 'enabled' then 'pending' else 'held' end, ${now}, ${now}
    from webhook_deliveries delivery
      join webhook_endpoints endpoint on endpoint.reference = delivery.endpoint_ref
    where delivery.provider_id = ${delivery.providerId} and delivery.reference = ${delivery.reference}
    returning reference`
  return row!.reference
}

/**
 * Queues the next deliveries of the replay and stores its progress in one statement, so that another process continues after the
 * last queued one if this process crashes. Returns the number of deliveries that were passed. Fewer than `countMax` means that
 * there are no more.
 */
export async function queueNextOfReplay(
  sql: TransactionSql,
  replay: WebhookReplay,
  countMax: number,
  now: Date,
  dueAt: Date,
): Promise<number> {
  const { providerId, reference } = replay
  const [row] = await sql<{ passed: number }[]>`
    with replay as (
      select reached_at, reached_sequence from webhook_replays
      where provider_id = ${providerId} and reference = ${reference}
    ),
    chosen as (
      select delivery.* from replay cross join lateral (
        (${selectReplayed(sql, replay, false, countMax)})
        union all
        (${selectReplayed(sql, replay, true, countMax)})
        order by made_at, sequence limit ${countMax}
      ) delivery
    ),
    -- Locked until the commit, so that the events are not deleted, even if the deliveries that kept them are.
    held as (
      select event_id from outbox
      where provider_id = ${providerId} and event_id in (select event_id from chosen) for key share
    ),
    queued as (
      insert into webhook_deliveries
        (provider_id, reference, endpoint_ref, event_id, event_type, order_key, replay_ref, state, due_at, created_at)
      select provider_id, ${referenceOf(sql, reference)}, endpoint_ref, event_id, event_type, order_key, ${reference},
        'pending', ${now}, ${now}
      from chosen join held using (event_id) order by made_at, sequence
      on conflict (replay_ref, endpoint_ref, event_id) where replay_ref is not null do nothing
      returning reference
    ),
    last as (select made_at, sequence from chosen order by made_at desc, sequence desc limit 1),
    moved as (
      update webhook_replays set queued = queued + (select count(*) from queued), due_at = ${dueAt},
        reached_at = last.made_at, reached_sequence = last.sequence
      from last where provider_id = ${providerId} and reference = ${reference}
    )
    select count(*)::int as passed from chosen`
  return row!.passed
}

/**
 * Selects the next deliveries of the replay, either those for customers on test clocks or all others. `made_at` is the real time of
 * their creation: `recorded_at` for customers on test clocks, otherwise `created_at`. Each of the two columns has an index.
 */
function selectReplayed(
  sql: Queryable,
  { providerId, endpointRef, onlyFailed, madeFrom, madeBefore }: WebhookReplay,
  isOnClock: boolean,
  countMax: number,
): Fragment {
  const madeAt = isOnClock ? sql`recorded_at` : sql`created_at`
  return sql`
    select delivery.*, ${madeAt} as made_at from webhook_deliveries delivery
    where provider_id = ${providerId} and endpoint_ref = ${endpointRef}
      and recorded_at is ${isOnClock ? sql`not null` : sql`null`}
      and (${madeAt}, sequence) > (replay.reached_at, replay.reached_sequence)
      and ${madeAt} < ${madeBefore}
      ${madeFrom === null ? sql`` : sql`and ${madeAt} >= ${madeFrom}`}
      ${onlyFailed ? isFailedForGood(sql) : sql`and state in ('succeeded', 'failed', 'skipped')`}
    order by ${madeAt}, sequence limit ${countMax}`
}

function referenceOf(sql: Queryable, replayRef: string) {
  return sql`'dlv_' || substr(event_id, 5) || substr(${replayRef}, 4)`
}

/** Condition: the delivery failed, and no later delivery of its event to the same endpoint is queued, held or successful. */
function isFailedForGood(sql: Queryable) {
  return sql`
    and state = 'failed'
    and not exists (
      select from webhook_deliveries later
      where later.provider_id = delivery.provider_id and later.event_id = delivery.event_id
        and later.endpoint_ref = delivery.endpoint_ref and later.sequence > delivery.sequence
        and later.state in ('pending', 'held', 'succeeded'))`
}
