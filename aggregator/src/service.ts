import { randomUUID } from 'node:crypto'
import { environments } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { createAdminServer } from '@tollgate/platform/service/admin-server'
import type { HealthCheck } from '@tollgate/platform/service/health'
import type { Service } from '@tollgate/platform/service/service'
import { migrateUsageTables } from './clickhouse/migrate.ts'
import type { AggregatorConfig } from './config.ts'
import { assembleProjection, type Assembly } from './consume/assemble-projection.ts'
import { createCountersProjection } from './consume/counters-projection.ts'
import { createHousekeeping } from './consume/housekeeping.ts'
import type { Partition } from './consume/partition-parts.ts'
import { createProgressObserver } from './consume/progress-observer.ts'
import { createProjectionMetrics, type ProjectionMetrics } from './consume/projection-metrics.ts'
import { createSinkProjection } from './consume/sink-projection.ts'
import { createTableGate } from './consume/table-gate.ts'
import { clickHouseOf, openParts, type Parts } from './open-parts.ts'
import { retentionOf } from './retention-config.ts'

export type Aggregator = Service & {
  /** Where health and metrics are served, once started. */
  readonly adminPort: number
}

/**
 * The composition root. What is passed in `overrides` is used and not closed; the rest is opened at the start and
 * closed at the stop. A usage store that is passed in is taken to have its tables.
 */
export function createAggregator(
  config: AggregatorConfig,
  overrides: Partial<Parts> = {},
): Aggregator {
  let running: Running | undefined
  return {
    get adminPort() {
      return running?.adminPort ?? config.adminPort
    },
    start: async () => {
      running = await startParts(config, overrides)
    },
    stop: async () => {
      const stopping = running
      running = undefined
      await stopping?.stop()
    },
  }
}

type Running = { readonly adminPort: number; readonly stop: () => Promise<void> }

async function startParts(config: AggregatorConfig, overrides: Partial<Parts>): Promise<Running> {
  const parts = await openParts(config, overrides)
  const { services, admin } = compose(config, parts, overrides)
  const started: Service[] = []
  const stop = async (): Promise<void> => {
    // In reverse, all loops before the parts under them.
    for (let last = started.pop(); last !== undefined; last = started.pop()) await last.stop()
    await parts.close()
  }
  try {
    for (const service of services) {
      started.push(service)
      await service.start()
    }
  } catch (error) {
    await stop()
    throw error
  }
  return { adminPort: admin.port, stop }
}

function compose(config: AggregatorConfig, parts: Parts, overrides: Partial<Parts>) {
  const { logger, clock, hotState, eventLog: log } = parts
  const registry = createMetrics('aggregator')
  const metrics = createProjectionMetrics(registry)
  const partitions = partitionsOf(parts)

  const hasCounters = config.projection !== 'sink'
  const hasSink = config.projection !== 'counters'
  const counters = hasCounters ? assembleCounters(config, parts, partitions, metrics) : nothing
  const sink = hasSink ? assembleSink(config, parts, partitions, metrics) : nothing

  const migrate = async (): Promise<void> => {
    if (hasSink && overrides.usageStore === undefined) {
      await migrateUsageTables(clickHouseOf(config))
    }
  }
  const tableGate = createTableGate(migrate, sink.loops, logger)
  const observer = createProgressObserver({
    observed: [...counters.observed, ...sink.observed],
    log,
    clock,
    metrics,
    logger,
    intervalMs: config.observeIntervalMs,
    stuckAfterMs: config.stuckAfterMs,
  })
  const housekeeping = createHousekeeping({
    partitions: hasCounters ? partitions : [],
    clock,
    logger,
    retention: retentionOf(config),
    intervalMs: config.housekeepingIntervalMs,
  })
  const hotStateHealth: HealthCheck = { name: 'hot-state', check: () => hotState.ping() }
  const admin = createAdminServer({
    host: config.adminHost,
    port: config.adminPort,
    metrics: registry,
    readiness: [hotStateHealth, observer.health, tableGate.health],
    // Every failure is already treated as a restart would treat it, and a restart brings no store back.
    liveness: [],
  })
  return { admin, services: [admin, observer, ...counters.loops, tableGate, housekeeping] }
}

const nothing: Assembly = { loops: [], observed: [] }

/** How many partitions are counted at a time: one reads and folds while another's step is committed. */
const countersConcurrencyMax = 4

function partitionsOf({ eventLog: log, hotState }: Parts): Partition[] {
  return environments.flatMap((environment) => {
    const topic = usageTopic(environment)
    return Array.from({ length: log.partitionCount(topic) }, (_, partition) => ({
      log,
      hotState,
      environment,
      topic,
      partition,
    }))
  })
}

function assembleCounters(
  config: AggregatorConfig,
  { logger }: Parts,
  partitions: readonly Partition[],
  metrics: ProjectionMetrics,
): Assembly {
  const readLimits = {
    recordsMax: config.countersBatchRecordsMax,
    bytesMax: config.countersBatchBytesMax,
  }
  return assembleProjection({
    name: 'counters',
    partitions,
    concurrencyMax: countersConcurrencyMax,
    metrics,
    logger,
    create: (at, childLogger) =>
      createCountersProjection({ ...at, readLimits }, metrics, childLogger),
  })
}

function assembleSink(
  config: AggregatorConfig,
  { logger, usageStore }: Parts,
  partitions: readonly Partition[],
  metrics: ProjectionMetrics,
): Assembly {
  const sink = {
    usageStore,
    readLimits: { recordsMax: config.sinkBatchRowsMax, bytesMax: config.sinkBatchBytesMax },
    delayMs: config.sinkDelayMs,
    countersWaitMs: config.sinkCountersWaitMs,
    newLineage: randomUUID,
  }
  return assembleProjection({
    name: 'sink',
    partitions,
    concurrencyMax: config.sinkConcurrencyMax,
    metrics,
    logger,
    create: (at, childLogger) => createSinkProjection({ ...at, ...sink }, metrics, childLogger),
  })
}
