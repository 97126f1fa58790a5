import { randomUUID } from 'node:crypto'
import { countersGroup, sinkGroup } from '@tollgate/schemas/consumer-groups'
import { usageTopic } from '@tollgate/schemas/topics'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { areCustomersPublished } from '@tollgate/domain/publications/published-since'
import { logSetupHealth, positionsHealth } from '@tollgate/platform/event-log/log-health'
import { replicasHealth } from '@tollgate/platform/hot-state/replicas-health'
import { createMetrics, type Registry } from '@tollgate/platform/observability/metrics'
import type { Tracing } from '@tollgate/platform/observability/tracing'
import type { HealthCheck } from '@tollgate/platform/service/health'
import type { Service } from '@tollgate/platform/service/service'
import { hostService, type Host, type HostedService } from '@tollgate/platform/service/service-host'
import { migrateUsageTables } from './clickhouse/migrate.ts'
import type { AggregatorConfig } from './config.ts'
import { createCountersProjection } from './consume/counters-projection.ts'
import { createHousekeeping } from './consume/housekeeping.ts'
import type { Partition } from './consume/partition-parts.ts'
import { createProgressObserver } from './consume/progress-observer.ts'
import { createProjectionGroup, type ProjectionGroup } from './consume/projection-group.ts'
import { createProjectionMetrics, type ProjectionMetrics } from './consume/projection-metrics.ts'
import { createSinkProjection } from './consume/sink-projection.ts'
import { createTableGate } from './consume/table-gate.ts'
import { createTotalsJob } from './consume/totals-job.ts'
import { createTotalsMetrics } from './consume/totals-metrics.ts'
import { traceBatches, untracedBatches, type TraceBatch } from './consume/trace-batches.ts'
import { clickHouseOf, openParts, type Parts } from './open-parts.ts'
import { retentionOf } from './retention-config.ts'

export type Aggregator = HostedService

/**
 * Creates the service from its parts. Parts in `overrides` are used and not closed. All other parts are opened at the start and
 * closed at the stop. A usage store in `overrides` must already have its tables.
 */
export function createAggregator(
  config: AggregatorConfig,
  overrides: Partial<Parts> = {},
): Aggregator {
  return hostService(config, {}, (host) => open(config, overrides, host))
}

async function open(
  config: AggregatorConfig,
  overrides: Partial<Parts>,
  host: Host,
): Promise<object> {
  const parts = await host.own(openParts(config, overrides))
  const { registry, readiness, services } = compose(config, parts, overrides)
  await host.serveHealth(registry, readiness)
  for (const service of services) await host.start(service)
  return {}
}

function compose(config: AggregatorConfig, parts: Parts, overrides: Partial<Parts>) {
  const { logger, clock, hotState, eventLog: log } = parts
  const registry = createMetrics('aggregator')
  const metrics = createProjectionMetrics(registry)

  const hasSink = config.projection !== 'counters'
  const migrate = async (signal: AbortSignal): Promise<void> => {
    if (!hasSink || overrides.usageStore !== undefined) return
    await migrateUsageTables(clickHouseOf(config), {
      longTimeoutMs: config.clickhouseFillTimeoutMs,
      report: (fields, message) => logger.info(fields, message),
      signal,
    })
  }
  const tableGate = createTableGate(migrate, logger)
  const counters = config.projection === 'sink' ? [] : [countersGroupOf(config, parts, metrics)]
  const sink = hasSink ? [sinkGroupOf(config, parts, metrics, tableGate.opened)] : []
  const groups = [...counters, ...sink]
  const totals = sink.flatMap((group) =>
    totalsJobOf(config, parts, registry, group, tableGate.opened),
  )

  const observer = createProgressObserver({
    observed: () => groups.flatMap((group) => group.observed()),
    log,
    clock,
    metrics,
    logger,
    intervalMs: config.observeIntervalMs,
    stuckAfterMs: config.stuckAfterMs,
  })
  const housekeeping = createHousekeeping({
    partitions: () => counters.flatMap((group) => group.partitions()),
    clock,
    logger,
    retention: retentionOf(config),
    isPublished,
    intervalMs: config.housekeepingIntervalMs,
  })
  const readiness: HealthCheck[] = [
    { name: 'event-log', check: () => checkLog(log) },
    { name: 'hot-state', check: () => hotState.ping() },
    ...logSetupHealth(log),
    ...positionsHealth(log, config),
    ...replicasHealth(hotState, config),
    observer.health,
    tableGate.health,
    ...groups.map((group) => group.health),
  ]
  return {
    registry,
    readiness,
    services: [observer, tableGate, ...groups, ...totals, housekeeping],
  }
}

/** Rejects if the log does not respond. Then no projection advances and the lag cannot be measured. */
async function checkLog(log: EventLog): Promise<void> {
  await log.head(usageTopic('live'), 0)
}

function isPublished({ hotState, environment, partition }: Partition): Promise<boolean> {
  return areCustomersPublished(hotState, environment, partition)
}

/** Number of partitions that are counted at a time: one reads and folds while the step of another is committed. */
const countersConcurrencyMax = 4

function countersGroupOf(
  config: AggregatorConfig,
  { clock, logger, eventLog: log, hotState, usageStore, tracing }: Parts,
  metrics: ProjectionMetrics,
): ProjectionGroup {
  const counters = {
    traceBatch: traceBatchOf(config, tracing),
    clock,
    usageStore,
    readLimits: {
      recordsMax: config.countersBatchRecordsMax,
      bytesMax: config.countersBatchBytesMax,
    },
    retention: retentionOf(config),
    replayRecordsMax: config.replayRecordsMax,
    repairRequestsIntervalMs: config.repairRequestsIntervalMs,
    isPublished,
  }
  return createProjectionGroup({
    name: 'counters',
    group: countersGroup,
    log,
    hotState,
    concurrencyMax: countersConcurrencyMax,
    mayStart: Promise.resolve(),
    stuckAfterMs: config.stuckAfterMs,
    metrics,
    logger,
    create: (at, childLogger) =>
      createCountersProjection({ ...at, ...counters }, metrics, childLogger),
  })
}

function sinkGroupOf(
  config: AggregatorConfig,
  { logger, eventLog: log, hotState, usageStore, tracing }: Parts,
  metrics: ProjectionMetrics,
  mayStart: Promise<void>,
): ProjectionGroup {
  const sink = {
    traceBatch: traceBatchOf(config, tracing),
    usageStore,
    cluster: clusterOf(config),
    readLimits: { recordsMax: config.sinkBatchRowsMax, bytesMax: config.sinkBatchBytesMax },
    delayMs: config.sinkDelayMs,
    countersWaitMs: config.sinkCountersWaitMs,
    repairRequestsIntervalMs: config.repairRequestsIntervalMs,
    newLineage: randomUUID,
  }
  return createProjectionGroup({
    name: 'sink',
    group: sinkGroup,
    log,
    hotState,
    concurrencyMax: config.sinkConcurrencyMax,
    mayStart,
    stuckAfterMs: config.stuckAfterMs,
    metrics,
    logger,
    create: (at, childLogger) => createSinkProjection({ ...at, ...sink }, metrics, childLogger),
  })
}

/** A repeated key that is counted again within this time may have the timestamp of its first use. */
const marksRetentionDaysMin = 32

/**
 * Returns the job that makes totals of stored records, if there is one. FINAL merges records with the same key and timestamp, also
 * across ranges, which totals cannot. Such records exist only if marks are kept for less time than timestamps may differ.
 */
function totalsJobOf(
  config: AggregatorConfig,
  { logger, usageStore }: Parts,
  registry: Registry,
  sink: ProjectionGroup,
  mayStart: Promise<void>,
): Service[] {
  const { totalsRangeRecords: rangeRecords, totalsIntervalMs: intervalMs } = config
  if (rangeRecords === 0) return []
  if (config.marksRetentionDays < marksRetentionDaysMin) {
    logger.warn(
      { marksRetentionDays: config.marksRetentionDays, min: marksRetentionDaysMin },
      'no totals of stored usage are made, because deduplication marks are kept for too few days',
    )
    return []
  }
  const metrics = createTotalsMetrics(registry)
  const partitions = () => sink.partitions()
  const cluster = clusterOf(config)
  const job = {
    partitions,
    usageStore,
    cluster,
    mayStart,
    rangeRecords,
    intervalMs,
    metrics,
    logger,
  }
  return [createTotalsJob(job)]
}

function clusterOf({ clickhouseCluster }: AggregatorConfig): string | undefined {
  return clickhouseCluster === '' ? undefined : clickhouseCluster
}

function traceBatchOf({ eventLog }: AggregatorConfig, tracing: Tracing | undefined): TraceBatch {
  if (tracing === undefined) return untracedBatches
  return traceBatches(tracing, eventLog === 'kafka' ? 'kafka' : 'tollgate')
}
