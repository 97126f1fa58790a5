import { Counter, Gauge, Histogram, type Registry } from '@tollgate/platform/observability/metrics'

export type ProjectionName = 'counters' | 'sink'

export type RecordResult = 'counted' | 'not-counted' | 'stored' | 'duplicate' | 'unreadable'

/** The metrics of the projections. Their help texts describe them. */
export type ProjectionMetrics = ReturnType<typeof createProjectionMetrics>

export function createProjectionMetrics(registry: Registry) {
  const registers = [registry]
  const labelNames = ['projection', 'topic', 'partition'] as const
  return {
    records: new Counter({
      name: 'tollgate_projection_records_total',
      help: 'Records that were processed, by result',
      labelNames: ['projection', 'topic', 'result'] as const,
      registers,
    }),
    batchSeconds: new Histogram({
      name: 'tollgate_projection_batch_seconds',
      help: 'Seconds from reading a batch to its last effect',
      labelNames: ['projection', 'topic'] as const,
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
      registers,
    }),
    failures: new Counter({
      name: 'tollgate_projection_failures_total',
      help: 'Batches that failed and were retried; kind fenced means that another process works on the partition',
      labelNames: ['projection', 'topic', 'kind'] as const,
      registers,
    }),
    restores: new Counter({
      name: 'tollgate_counts_restores_total',
      help: "Rebuilds of a partition's counts from ClickHouse after the hot state had lost them, by result",
      labelNames: ['topic', 'result'] as const,
      registers,
    }),
    storedAgain: new Counter({
      name: 'tollgate_sink_stored_again_total',
      help: 'Times the sink moved back in the log because ClickHouse lacked stored records, by reason',
      labelNames: ['topic', 'reason'] as const,
      registers,
    }),
    lagRecords: new Gauge({
      name: 'tollgate_projection_lag_records',
      help: 'Records of the log that the projection has not processed',
      labelNames,
      registers,
    }),
    lagSeconds: new Gauge({
      name: 'tollgate_projection_lag_seconds',
      help: 'Age in seconds of the oldest record that the projection has not processed',
      labelNames,
      registers,
    }),
    position: new Gauge({
      name: 'tollgate_projection_position',
      help: 'Next offset that the projection will process',
      labelNames,
      registers,
    }),
  }
}
