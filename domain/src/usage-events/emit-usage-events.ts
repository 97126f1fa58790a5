import type { TransactionSql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type { Environment } from '@tollgate/schemas/environment'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { jobActor, setActor } from '../audit/actor.ts'
import { insertOutboxEvents } from '../outbox/repository.ts'
import { movePosition, type HandledRange } from '../postgres/log-positions.ts'
import { usageRecordedEvents, type UsageNames } from './usage-event.ts'

const emitter = jobActor('tell-usage')

/** All usage of one log partition from `fromOffset` up to `toOffset`, for which events are to be emitted. */
export type UsageBatch = HandledRange & {
  /** Records in the order of the log. */
  readonly events: readonly MeterEvent[]
}

/** `elsewhere`: another process has emitted the events, and nothing was changed. */
export type EmitOutcome = 'emitted' | 'elsewhere'

/**
 * Emits usage events and moves the position, in the given transaction. Each record is therefore emitted once, whatever process
 * crashes. If two processes have the same batch, the second finds that the position has moved. If the log has a record twice
 * because an earlier position was stored again, it is the same event and stays unchanged.
 */
export async function emitUsageEvents(
  sql: TransactionSql,
  environment: Environment,
  { events, ...range }: UsageBatch,
): Promise<EmitOutcome> {
  setActor(sql, emitter)
  if (!(await movePosition(sql, 'usage_event_positions', range))) return 'elsewhere'
  if (events.length === 0) return 'emitted'
  const names = await findUsageNames(sql, events)
  const outboxEvents = events.flatMap((event, index) =>
    usageRecordedEvents(environment, event, names[index]!),
  )
  await insertOutboxEvents(sql, outboxEvents)
  return 'emitted'
}

/** Returns the customers of the records and their purchases at the time, in the order of the records. */
async function findUsageNames(
  sql: Queryable,
  events: readonly MeterEvent[],
): Promise<UsageNames[]> {
  const rows = await sql<{ customer_ref: string | null; purchase_ref: string | null }[]>`
    select link.customer_ref, held.reference as purchase_ref
    from unnest(
      ${events.map((event) => event.providerId)}::text[],
      ${events.map((event) => event.customerRef)}::text[],
      ${events.map((event) => event.productRef ?? '')}::text[],
      ${events.map((event) => new Date(event.timestamp).toISOString())}::timestamptz[]
    ) with ordinality as used (provider_id, reference, product_ref, used_at, place)
    left join customer_references link
      on link.provider_id = used.provider_id and link.reference = used.reference
      and link.released_at is null
    left join lateral (
      select purchases.reference from purchases
      where purchases.provider_id = used.provider_id
        and purchases.customer_ref = link.customer_ref
        and purchases.product_ref = used.product_ref and purchases.plan_ref is not null and not purchases.is_pack
        and purchases.start_date <= used.used_at
        and coalesce(purchases.ended_at, purchases.end_date, 'infinity') > used.used_at
      order by purchases.start_date desc, purchases.created_at desc
      limit 1
    ) held on true
    order by used.place`
  return rows.map((row) => ({
    customerRef: row.customer_ref ?? undefined,
    purchaseRef: row.purchase_ref ?? undefined,
  }))
}
