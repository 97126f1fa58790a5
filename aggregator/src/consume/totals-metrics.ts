import { Counter, Gauge, type Registry } from '@tollgate/platform/observability/metrics'

export type TotalsMetrics = ReturnType<typeof createTotalsMetrics>

export function createTotalsMetrics(registry: Registry) {
  const registers = [registry]
  return {
    waitingRecords: new Gauge({
      name: 'tollgate_usage_totals_waiting_records',
      help: 'Stored records in complete ranges that have no totals yet; bills read them row by row',
      labelNames: ['topic', 'partition'] as const,
      registers,
    }),
    ranges: new Counter({
      name: 'tollgate_usage_totals_ranges_total',
      help: 'Ranges whose totals were made, verified after a restart of ClickHouse, dropped, refused because they differed from the records, or failed',
      labelNames: ['topic', 'result'] as const,
      registers,
    }),
  }
}
