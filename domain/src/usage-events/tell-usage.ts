import type { TransactionSql } from 'postgres'
import type { Environment } from '@tollgate/schemas/environment'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { jobActor, nameActor } from '../audit/actor.ts'
import { insertOutboxEvents } from '../outbox/repository.ts'
import { nameUsage } from './name-usage.ts'
import { usageRecordedEvent } from './usage-event.ts'

const teller = jobActor('tell-usage')

/** All usage of one log partition from `fromOffset` up to `toOffset`, for which events are to be emitted. */
export type UsageBatch = {
  readonly partition: number
  readonly fromOffset: number
  readonly toOffset: number
  /** Records in the order of the log. */
  readonly events: readonly MeterEvent[]
}

/** `elsewhere`: another process has emitted the events, and nothing was changed. */
export type TellOutcome = 'told' | 'elsewhere'

/**
 * Emits usage events and moves the position, in the given transaction. Each record is therefore emitted once, whatever process
 * crashes. If two processes have the same batch, the second finds that the position has moved. If the log has a record twice
 * because an earlier position was stored again, it is the same event and stays unchanged.
 */
export async function tellUsage(
  sql: TransactionSql,
  environment: Environment,
  { partition, fromOffset, toOffset, events }: UsageBatch,
): Promise<TellOutcome> {
  nameActor(sql, teller)
  const moved = await sql`
    update usage_event_positions set next_offset = ${toOffset}
    where log_partition = ${partition} and next_offset = ${fromOffset}`
  if (moved.count === 0) return 'elsewhere'
  if (events.length === 0) return 'told'
  const names = await nameUsage(sql, events)
  const told = events.map((event, index) => usageRecordedEvent(environment, event, names[index]!))
  await insertOutboxEvents(sql, told)
  return 'told'
}
