import { Counter, Gauge, Histogram, type Registry } from '@tollgate/platform/observability/metrics'

export type ProjectionName = 'counters' | 'sink'

export type RecordResult = 'counted' | 'not-counted' | 'stored' | 'duplicate' | 'unreadable'

/** The numbers an operator watches; described where they are declared. */
export type ProjectionMetrics = ReturnType<typeof createProjectionMetrics>

export function createProjectionMetrics(registry: Registry) {
  const registers = [registry]
  const labelNames = ['projection', 'topic', 'partition'] as const
  return {
    records: new Counter({
      name: 'tollgate_projection_records_total',
      help: 'Records processed, by what became of them',
      labelNames: ['projection', 'topic', 'result'] as const,
      registers,
    }),
    batchSeconds: new Histogram({
      name: 'tollgate_projection_batch_seconds',
      help: 'Time from reading a batch to its last effect',
      labelNames: ['projection', 'topic'] as const,
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
      registers,
    }),
    failures: new Counter({
      name: 'tollgate_projection_failures_total',
      help: 'Batches that failed and were tried again; kind fenced: another process works on the partition',
      labelNames: ['projection', 'topic', 'kind'] as const,
      registers,
    }),
    restores: new Counter({
      name: 'tollgate_counts_restores_total',
      help: 'Counts of a partition made again from ClickHouse because the hot state had lost them',
      labelNames: ['topic', 'result'] as const,
      registers,
    }),
    storedAgain: new Counter({
      name: 'tollgate_sink_stored_again_total',
      help: 'How often the sink went back in the log because ClickHouse lacked what was stored, by reason',
      labelNames: ['topic', 'reason'] as const,
      registers,
    }),
    lagRecords: new Gauge({
      name: 'tollgate_projection_lag_records',
      help: 'Records in the log that the projection has not processed',
      labelNames,
      registers,
    }),
    lagSeconds: new Gauge({
      name: 'tollgate_projection_lag_seconds',
      help: 'Age of the oldest record that the projection has not processed',
      labelNames,
      registers,
    }),
    position: new Gauge({
      name: 'tollgate_projection_position',
      help: 'The next offset the projection will process',
      labelNames,
      registers,
    }),
  }
}
