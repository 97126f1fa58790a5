import type { TransactionSql } from 'postgres'
import type { Environment } from '@tollgate/schemas/environment'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { jobActor, nameActor } from '../audit/actor.ts'
import { insertOutboxEvents } from '../outbox/repository.ts'
import { nameUsage } from './name-usage.ts'
import { usageRecordedEvent } from './usage-event.ts'

const teller = jobActor('tell-usage')

/** Usage of one partition of the log that is to be told of: all of it from one offset up to another. */
export type UsageBatch = {
  readonly partition: number
  readonly fromOffset: number
  readonly toOffset: number
  /** In the order of the log. */
  readonly events: readonly MeterEvent[]
}

/** `elsewhere`: somebody else has told of it, and nothing was changed. */
export type TellOutcome = 'told' | 'elsewhere'

/**
 * Tells of usage, and moves the position behind it, in the transaction that is given: so each record is told of once,
 * whoever dies when, and of two processes with the same batch the second one finds the position elsewhere. A record that
 * the log has twice, as it was stored anew from an earlier position, is the same event and stays as it was told.
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
