import type { Logger } from '@tollgate/platform/observability/logger'
import type { Service } from '@tollgate/platform/service/service'
import type { Partition } from './partition-parts.ts'
import { createProjectionLoop, type Projection } from './projection-loop.ts'
import type { ProjectionMetrics, ProjectionName } from './projection-metrics.ts'
import type { Observed } from './progress-observer.ts'
import { Turnstile } from './turnstile.ts'

export type AssemblyParts = {
  readonly name: ProjectionName
  readonly partitions: readonly Partition[]
  readonly concurrencyMax: number
  readonly metrics: ProjectionMetrics
  readonly logger: Logger
  readonly create: (at: Partition, logger: Logger) => Projection
}

export type Assembly = {
  readonly loops: readonly Service[]
  readonly observed: readonly Observed[]
}

/** One loop per log partition; all loops of a projection pass the same turnstile. */
export function assembleProjection(parts: AssemblyParts): Assembly {
  const { name, metrics } = parts
  const turnstile = new Turnstile(parts.concurrencyMax)
  const loops: Service[] = []
  const observed: Observed[] = []
  for (const at of parts.partitions) {
    const { log, topic, partition } = at
    const logger = parts.logger.child({ projection: name, topic, partition })
    const projection = parts.create(at, logger)
    const onFailure = (kind: 'failed' | 'fenced'): void =>
      metrics.failures.inc({ projection: name, topic, kind })
    const loop = { projection, log, topic, partition, turnstile, logger, onFailure }
    loops.push(createProjectionLoop(loop))
    observed.push({ name, topic, partition, projection })
  }
  return { loops, observed }
}
