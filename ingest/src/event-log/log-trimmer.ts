import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Service } from '@tollgate/platform/service/service'
import { countersGroup, sinkGroup } from '@tollgate/schemas/consumer-groups'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'

export type LogTrimmerParts = {
  readonly log: EventLog
  readonly hotState: Pick<HotState, 'appliedOffset'>
  readonly clock: Clock
  readonly logger: Logger
  readonly retentionMs: number
  readonly intervalMs: number
}

/**
 * Returns a service that deletes records which are older than the retention and which both projections have applied. It runs in
 * ingest because only the writer of the log may trim it.
 */
export function createLogTrimmer(parts: LogTrimmerParts): Service {
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  const runForever = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      // The only rejection is the abort, and the loop checks the signal next.
      await sleep(parts.intervalMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      await trimAll(parts, stopping.signal)
    }
  }
  return {
    start: async () => {
      running ??= runForever()
    },
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

async function trimAll(parts: LogTrimmerParts, signal: AbortSignal): Promise<void> {
  for (const environment of environments) {
    const topic = usageTopic(environment)
    for (let partition = 0; partition < parts.log.partitionCount(topic); partition++) {
      if (signal.aborted) return
      await trim(parts, environment, partition).catch((error: unknown) => {
        parts.logger.warn({ err: error, topic, partition }, 'the event log could not be trimmed')
      })
    }
  }
}

async function trim(
  { log, hotState, clock, retentionMs }: LogTrimmerParts,
  environment: Environment,
  partition: number,
): Promise<void> {
  const topic = usageTopic(environment)
  const counted = await log.position(countersGroup, topic, partition)
  // After a hot state lost its counters, the counters projection reads the log from the beginning, and the position of its consumer
  // group follows only later. Until then no record is old enough to be trimmed. This trim call also replaces an earlier one for
  // this partition.
  const isLost = (await hotState.appliedOffset(environment, partition)) < counted.offset
  const receivedBeforeMs = isLost ? -Infinity : clock.now() - retentionMs
  await log.trim(topic, partition, receivedBeforeMs, [sinkGroup, countersGroup])
}
