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

/** Deletes what is old and has been counted and stored. It runs here because only the log's writer may shorten it. */
export function createLogTrimmer(parts: LogTrimmerParts): Service {
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  const runForever = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      // The only rejection is the abort, and the loop looks at the signal next.
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
        parts.logger.warn({ err: error, topic, partition }, 'the log could not be trimmed')
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
  // A HotState that lost its counters counts the log again, and its group's position follows only after a while. Until
  // then nothing is old enough, which also takes back what was said of this partition before the loss.
  const isLost = (await hotState.appliedOffset(environment, partition)) < counted.offset
  const receivedBeforeMs = isLost ? -Infinity : clock.now() - retentionMs
  await log.trim(topic, partition, receivedBeforeMs, [sinkGroup, countersGroup])
}
