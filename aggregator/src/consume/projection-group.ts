import type { EventLog, GroupMembership } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { HealthCheck } from '@tollgate/platform/service/health'
import type { Service } from '@tollgate/platform/service/service'
import { ConcurrencyLimit } from '@tollgate/platform/waiting/concurrency-limit'
import { environments } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'
import type { Partition } from './partition-parts.ts'
import { createProjectionLoop, type Projection } from './projection-loop.ts'
import type { ProjectionMetrics, ProjectionName } from './projection-metrics.ts'
import type { Observed } from './progress-observer.ts'

export type GroupParts = {
  readonly name: ProjectionName
  /** The consumer group of the log whose members share the partitions of this projection. */
  readonly group: string
  readonly log: EventLog
  readonly hotState: HotState
  readonly concurrencyMax: number
  /** The loops start once this resolves. Assigned partitions are observed before that. */
  readonly mayStart: Promise<void>
  /** Milliseconds for which this process may be outside of the group before readiness fails. */
  readonly stuckAfterMs: number
  readonly metrics: ProjectionMetrics
  readonly logger: Logger
  readonly create: (at: Partition, logger: Logger) => Projection
}

export type ProjectionGroup = Service & {
  /** The projections that this process runs now. */
  readonly observed: () => readonly Observed[]
  readonly partitions: () => readonly Partition[]
  readonly health: HealthCheck
}

type Running = { readonly at: Partition; readonly observed: Observed; readonly loop: Service }

/**
 * Runs one loop for each log partition that is assigned to this process. All loops of a projection share one concurrency limit. A
 * revoked partition may still be processed here for a moment: with the fence in HotState and the position of the group, one of the
 * two processes wins, and both produce the same result.
 */
export function createProjectionGroup(parts: GroupParts): ProjectionGroup {
  // Memory stays bounded by the number of batches in progress, and a busy partition waits for the others after each batch.
  const concurrencyLimit = new ConcurrencyLimit(parts.concurrencyMax)
  const running = new Map<string, Running>()
  let membership: GroupMembership | undefined
  let isAwaySinceMs: number | undefined

  const assigned = (topic: string, partition: number): void => {
    const next = createLoop(parts, concurrencyLimit, topic, partition)
    running.set(`${topic}/${partition}`, next)
    void parts.mayStart.then(() => next.loop.start())
  }
  const revoked = async (topic: string, partition: number): Promise<void> => {
    const last = running.get(`${topic}/${partition}`)
    running.delete(`${topic}/${partition}`)
    await last?.loop.stop()
  }
  return {
    start: async () => {
      const topics = environments.map(usageTopic)
      membership ??= await parts.log.join(parts.group, topics, { assigned, revoked })
    },
    stop: async () => {
      await membership?.leave()
    },
    observed: () => [...running.values()].map(({ observed }) => observed),
    partitions: () => [...running.values()].map(({ at }) => at),
    health: {
      name: `${parts.name}-group`,
      check: async () => {
        const isAway = membership?.isJoined === false
        isAwaySinceMs = isAway ? (isAwaySinceMs ?? performance.now()) : undefined
        if (isAwaySinceMs === undefined) return
        const awayMs = performance.now() - isAwaySinceMs
        if (awayMs >= parts.stuckAfterMs) {
          throw new Error(
            `this process has not been a member of the consumer group ${parts.group} for ${Math.round(awayMs)} ms`,
          )
        }
      },
    },
  }
}

function createLoop(
  { name, log, hotState, metrics, logger: parentLogger, create }: GroupParts,
  concurrencyLimit: ConcurrencyLimit,
  topic: string,
  partition: number,
): Running {
  const environment = environments.find((each) => usageTopic(each) === topic)
  if (environment === undefined)
    throw new Error(`No environment stores usage in the topic ${topic}.`)
  const at = { log, hotState, environment, topic, partition }
  const logger = parentLogger.child({ projection: name, topic, partition })
  const projection = create(at, logger)
  const onFailure = (kind: 'failed' | 'fenced'): void =>
    metrics.failures.inc({ projection: name, topic, kind })
  const loop = { projection, log, topic, partition, concurrencyLimit, logger, onFailure }
  return {
    at,
    observed: { name, topic, partition, projection },
    loop: createProjectionLoop(loop),
  }
}
