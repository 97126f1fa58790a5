import { listReceivingProviders } from '@tollgate/domain/webhooks/receiving-providers'
import {
  skipToPositions,
  startPositions,
  type LogPositions,
} from '@tollgate/domain/postgres/log-positions'
import { emitUsageEvents } from '@tollgate/domain/usage-events/emit-usage-events'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { Service } from '@tollgate/platform/service/service'
import {
  UsageStoreUnavailableError,
  type UsageStore,
} from '@tollgate/platform/usage-store/usage-store'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'
import { readRecordedUsage } from '../usage/read-recorded-usage.ts'
import { repeating, reportFailure, type JobParts } from './repeating.ts'
import { readSinkPositions } from './sink-positions.ts'
import type { UsageLag } from './usage-lag.ts'

type UsageEventParts = JobParts & {
  readonly eventLog: EventLog
  readonly usageStore: UsageStore
  readonly lag: UsageLag
}

/** A range of one partition. */
type Stretch = {
  readonly partition: number
  readonly fromOffset: number
  /** End of the range, exclusive. The sink has stored all records before it. */
  readonly toOffset: number
}

/**
 * Emits `usage.recorded` shortly after usage was stored, for providers with an endpoint that receives the event: partition by
 * partition of the log. Several processes may run it at the same time: the position in PostgreSQL lets only one process emit the
 * events of each batch. Without a receiver the position still advances, so that a new endpoint gets only usage recorded after its
 * creation.
 */
export function createUsageEventJob(parts: UsageEventParts, intervalMs: number): Service {
  const skippedTo = new Map<Environment, LogPositions>()
  const round = async (): Promise<void> => {
    await Promise.all(
      environments.map((environment) =>
        logFailure(parts, environment, 'all', () => emitAll(parts, environment, skippedTo)),
      ),
    )
  }
  const rounds = repeating(round, intervalMs)
  return {
    // Store the position of a new installation before any endpoint can be created in it.
    start: async () => {
      await round()
      await rounds.start()
    },
    stop: () => rounds.stop(),
  }
}

function logFailure(
  { logger }: UsageEventParts,
  environment: Environment,
  partition: number | 'all',
  step: () => Promise<void>,
): Promise<void> {
  return reportFailure(step, (err) => {
    const level = err instanceof UsageStoreUnavailableError ? 'warn' : 'error'
    logger[level](
      { err, environment, partition },
      'could not emit usage events; the next round retries',
    )
  })
}

async function emitAll(
  parts: UsageEventParts,
  environment: Environment,
  skippedTo: Map<Environment, LogPositions>,
): Promise<void> {
  const pool = parts.publisher.database.in(environment)
  // Read the positions before the endpoints: an endpoint that is created in between gets no usage before these positions.
  const stored = await readSinkPositions(parts, environment)
  const receivers = await listReceivingProviders(pool, 'usage.recorded')
  if (receivers.size === 0) {
    parts.lag.record(environment, stored, stored)
    if (arePositionsEqual(stored, skippedTo.get(environment))) return
    await skipToPositions(pool, 'usage_event_positions', stored)
    skippedTo.set(environment, stored)
    return
  }
  skippedTo.delete(environment)
  const positions = await startPositions(pool, 'usage_event_positions', stored)
  parts.lag.record(environment, stored, positions)
  for (const [partition, toOffset] of stored) {
    // A failure in one partition must not delay the others.
    await logFailure(parts, environment, partition, async () => {
      const fromOffset = positions.get(partition)!
      await emitRange(parts, environment, { partition, fromOffset, toOffset }, receivers)
    })
  }
}

function arePositionsEqual(one: LogPositions, other: LogPositions | undefined): boolean {
  return [...one].every(([partition, offset]) => other?.get(partition) === offset)
}

/**
 * Emits the events of a range. Stops at once if the sink stores the log again from before the position, or if the log is a
 * different one.
 */
async function emitRange(
  parts: UsageEventParts,
  environment: Environment,
  { partition, fromOffset, toOffset }: Stretch,
  receivers: ReadonlySet<string>,
): Promise<void> {
  const pool = parts.publisher.database.in(environment)
  const topic = usageTopic(environment)
  let offset = fromOffset
  while (offset < toOffset) {
    const range = { topic, partition, fromOffset: offset, toOffset }
    const read = await readRecordedUsage(parts, environment, range, receivers)
    // No event can be emitted for these records. This happens only if the job was stopped for a long time.
    for (const gap of read.gaps) {
      const deleted = { environment, partition, ...gap }
      parts.logger.error(deleted, 'the log has deleted usage whose events were not emitted')
    }
    const events = read.records.map(({ event }) => event)
    const batch = { partition, fromOffset: offset, toOffset: read.toOffset, events }
    const outcome = await pool.begin((sql) => emitUsageEvents(sql, environment, batch))
    if (outcome === 'elsewhere') return
    offset = read.toOffset
  }
}
