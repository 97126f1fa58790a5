import type { EventLog, GroupMembership } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { HealthCheck } from '@tollgate/platform/service/health'
import type { Service } from '@tollgate/platform/service/service'
import { environments } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'
import type { Partition } from './partition-parts.ts'
import { createProjectionLoop, type Projection } from './projection-loop.ts'
import type { ProjectionMetrics, ProjectionName } from './projection-metrics.ts'
import type { Observed } from './progress-observer.ts'
import { Turnstile } from './turnstile.ts'

export type GroupParts = {
  readonly name: ProjectionName
  /** The group of the log whose members share the partitions of this projection. */
  readonly group: string
  readonly log: EventLog
  readonly hotState: HotState
  readonly concurrencyMax: number
  /** The loops start no earlier; what is assigned is observed all the same. */
  readonly mayStart: Promise<void>
  /** How long this process may be without the group before it is unhealthy. */
  readonly stuckAfterMs: number
  readonly metrics: ProjectionMetrics
  readonly logger: Logger
  readonly create: (at: Partition, logger: Logger) => Projection
}

export type ProjectionGroup = Service & {
  /** What runs here now. */
  readonly observed: () => readonly Observed[]
  readonly partitions: () => readonly Partition[]
  readonly health: HealthCheck
}

type Running = { readonly at: Partition; readonly observed: Observed; readonly loop: Service }

/**
 * One loop per log partition that is assigned to this process; all loops of a projection pass the same turnstile. A
 * partition that is assigned elsewhere may still be worked on here for a moment: the fences in HotState and at the
 * group's position let one of the two win, and both come to the same result.
 */
export function createProjectionGroup(parts: GroupParts): ProjectionGroup {
  const turnstile = new Turnstile(parts.concurrencyMax)
  const running = new Map<string, Running>()
  let membership: GroupMembership | undefined
  let isAwaySinceMs: number | undefined

  const assigned = (topic: string, partition: number): void => {
    const next = createLoop(parts, turnstile, topic, partition)
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
          throw new Error(`not in the log's group ${parts.group} for ${Math.round(awayMs)} ms`)
        }
      },
    },
  }
}

function createLoop(
  { name, log, hotState, metrics, logger: parentLogger, create }: GroupParts,
  turnstile: Turnstile,
  topic: string,
  partition: number,
): Running {
  const environment = environments.find((each) => usageTopic(each) === topic)
  if (environment === undefined) throw new Error(`No environment keeps its usage in ${topic}.`)
  const at = { log, hotState, environment, topic, partition }
  const logger = parentLogger.child({ projection: name, topic, partition })
  const projection = create(at, logger)
  const onFailure = (kind: 'failed' | 'fenced'): void =>
    metrics.failures.inc({ projection: name, topic, kind })
  const loop = { projection, log, topic, partition, turnstile, logger, onFailure }
  return {
    at,
    observed: { name, topic, partition, projection },
    loop: createProjectionLoop(loop),
  }
}
