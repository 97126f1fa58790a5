import { setImmediate as otherWork } from 'node:timers/promises'
import {
  hourMs,
  listWatchedProviders,
  type UsedHour,
} from '@tollgate/domain/alerts/checks-repository'
import { noteRange } from '@tollgate/domain/alerts/note-range'
import { tryDecodeEvent } from '@tollgate/domain/entitlements/read-log-range'
import { skipToPositions, startPositions } from '@tollgate/domain/postgres/log-positions'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { Environment } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'
import type { JobParts } from './repeating.ts'
import { readSinkPositions } from './sink-positions.ts'

export type FinderParts = JobParts & { readonly eventLog: EventLog }

const readLimits = { recordsMax: 1_000, bytesMax: 1024 * 1024 } as const

/** Maximum number of log records of one batch. A busy customer is one row of it, whatever the number of its records. */
const recordsPerBatchMax = 20_000

/**
 * Follows the sink through the log and notes the customers who used something since the last round, for providers with alerts or
 * budgets. Several processes may run it: the position in PostgreSQL lets only one process note each batch. Without such a provider
 * the log is not read, and the position still advances, so that a first alert does not search old usage.
 *
 * The sink is followed, and not the end of the log, because costs are measured from what it has stored.
 */
export async function findUsedCustomers(
  parts: FinderParts,
  environment: Environment,
): Promise<void> {
  const { eventLog, publisher } = parts
  const pool = publisher.database.in(environment)
  const topic = usageTopic(environment)
  // The positions are read before the providers: an alert that is created in between gets no usage before these positions.
  const stored = await readSinkPositions(parts, environment)
  const providers = await listWatchedProviders(pool)
  if (providers.size === 0) return skipToPositions(pool, 'alert_positions', stored)
  const positions = await startPositions(pool, 'alert_positions', stored)
  for (const [partition, toOffset] of stored) {
    let offset = positions.get(partition)!
    while (offset < toOffset) {
      const range = { topic, partition, fromOffset: offset, toOffset }
      const { used, readTo } = await readUsedHours(eventLog, range, providers)
      const searched = { partition, fromOffset: offset, toOffset: readTo }
      if (!(await pool.begin((sql) => noteRange(sql, searched, used)))) break
      offset = readTo
    }
  }
}

type Range = {
  readonly topic: string
  readonly partition: number
  readonly fromOffset: number
  readonly toOffset: number
}

/** Returns who used something in the beginning of a range. What the log has deleted already is skipped. */
async function readUsedHours(
  eventLog: EventLog,
  { topic, partition, fromOffset, toOffset }: Range,
  providers: ReadonlySet<string>,
): Promise<{ used: UsedHour[]; readTo: number }> {
  const used = new Map<string, UsedHour>()
  const lastOffset = Math.min(toOffset, fromOffset + recordsPerBatchMax)
  let offset = fromOffset
  while (offset < lastOffset) {
    const records = await eventLog.read(topic, partition, offset, readLimits)
    if (records.length === 0) {
      const oldest = await eventLog.oldest(topic, partition)
      if (oldest <= offset) throw new Error(`${topic} ${partition} ends before ${offset}`)
      offset = Math.min(oldest, toOffset)
    }
    for (const record of records) {
      if (record.offset >= toOffset) {
        offset = toOffset
        break
      }
      offset = record.offset + 1
      const event = tryDecodeEvent(record)
      if (event?.outcome !== 'success' || !providers.has(event.providerId)) continue
      const { providerId, customerRef, timestamp } = event
      const unixHour = Math.floor(timestamp / hourMs)
      const key = `${providerId.length}:${providerId}${unixHour}:${customerRef}`
      used.set(key, { providerId, customerRef, unixHour })
    }
    // Yield to other work, so that requests do not wait for a long range.
    await otherWork()
  }
  return { used: [...used.values()], readTo: offset }
}
