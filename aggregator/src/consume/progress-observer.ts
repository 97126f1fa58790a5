import type { Clock } from '@tollgate/platform/clock/clock'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HealthCheck } from '@tollgate/platform/service/health'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Service } from '@tollgate/platform/service/service'
import { isStuck, noProgress, observeProgress, type Progress } from '../domain/progress.ts'
import type { Projection } from './projection-loop.ts'
import type { ProjectionMetrics, ProjectionName } from './projection-metrics.ts'

export type Observed = {
  readonly name: ProjectionName
  readonly topic: string
  readonly partition: number
  readonly projection: Projection
}

export type ObserverParts = {
  /** The projections that this process runs now. */
  readonly observed: () => readonly Observed[]
  readonly log: EventLog
  readonly clock: Clock
  readonly metrics: ProjectionMetrics
  readonly logger: Logger
  readonly intervalMs: number
  readonly stuckAfterMs: number
}

/**
 * Observes every projection from outside, because a loop that hangs cannot report it. Updates the lag metrics and the health check.
 */
export function createProgressObserver(
  parts: ObserverParts,
): Service & { readonly health: HealthCheck } {
  let states = new Map<Observed, Progress>()
  let timer: NodeJS.Timeout | undefined
  const observeAll = async (): Promise<void> => {
    const observed = parts.observed()
    for (const revoked of states.keys())
      if (!observed.includes(revoked)) forget(parts.metrics, revoked)
    states = new Map(observed.map((each) => [each, states.get(each) ?? noProgress]))
    for (const [each, before] of states) states.set(each, await observe(parts, each, before))
  }
  const tick = (): void => {
    observeAll()
      .catch((error: unknown) =>
        parts.logger.error({ err: error }, 'the progress of the projections could not be observed'),
      )
      .finally(() => (timer = timer && setTimeout(tick, parts.intervalMs)))
  }
  return {
    start: async () => {
      timer = setTimeout(tick, parts.intervalMs)
    },
    stop: async () => {
      clearTimeout(timer)
      timer = undefined
    },
    health: {
      name: 'projections',
      check: async () => {
        const nowMs = parts.clock.now()
        const stuck = [...states].filter(([, state]) => isStuck(state, nowMs, parts.stuckAfterMs))
        if (stuck.length === 0) return
        const list = stuck.map(
          ([{ name, topic, partition }, state]) =>
            `${name} of ${topic}/${partition} stands at ${state.position}, ${state.lagRecords} records behind`,
        )
        throw new Error(list.join('; '))
      },
    },
  }
}

/** Removes the metrics of a partition that another process reports from now on. */
function forget(metrics: ProjectionMetrics, { name, topic, partition }: Observed): void {
  const labels = { projection: name, topic, partition: String(partition) }
  for (const gauge of [metrics.position, metrics.lagRecords, metrics.lagSeconds]) {
    gauge.remove(labels)
  }
}

async function observe(
  { log, clock, metrics }: ObserverParts,
  { name, topic, partition, projection }: Observed,
  before: Progress,
): Promise<Progress> {
  // Before its first step and after a failure, a projection has no known position. This counts as no progress.
  const position = projection.position ?? before.position
  const head = await log.head(topic, partition)
  // The age of a record in a damaged segment cannot be read. The lag in records is still reported.
  const [oldest] =
    position < head
      ? await log.read(topic, partition, position, { recordsMax: 1, bytesMax: 1 }).catch(() => [])
      : []
  const progress = observeProgress(before, {
    position,
    head,
    oldestReceivedAtMs: oldest?.receivedAtMs,
    nowMs: clock.now(),
  })
  const labels = { projection: name, topic, partition: String(partition) }
  metrics.position.set(labels, progress.position)
  metrics.lagRecords.set(labels, progress.lagRecords)
  metrics.lagSeconds.set(labels, progress.lagMs / 1000)
  return progress
}
