import { Counter, Gauge, type Registry } from '@tollgate/platform/observability/metrics'
import { outcomes } from '@tollgate/schemas/meter-event'

export type RecordMetrics = ReturnType<typeof createRecordMetrics>

export function createRecordMetrics(registry: Registry) {
  const registers = [registry]
  const counter = (name: string, help: string) => {
    const made = new Counter({ name, help, registers })
    made.inc(0)
    return made
  }
  const settled = new Counter({
    name: 'tollgate_mcp_calls_settled_total',
    help: 'Tool calls that have ended and are in the journal, by outcome',
    labelNames: ['space', 'outcome'] as const,
    registers,
  })
  for (const outcome of outcomes) {
    for (const space of ['sandbox', 'live']) settled.inc({ space, outcome }, 0)
  }
  return {
    settled,
    delivered: counter(
      'tollgate_mcp_records_delivered_total',
      'Records of calls that ingest accepted',
    ),
    refused: counter(
      'tollgate_mcp_records_refused_total',
      'Records of calls that ingest refused; they are in the file of refused records',
    ),
    failures: counter(
      'tollgate_mcp_delivery_failures_total',
      'Requests with records of calls that failed at ingest and are retried',
    ),
    damaged: counter(
      'tollgate_mcp_records_damaged_total',
      'Lines of the journal that cannot be read',
    ),
    adopted: counter(
      'tollgate_mcp_records_adopted_total',
      'Records of calls that were taken over from a process that has ended',
    ),
    lost: counter(
      'tollgate_mcp_journals_lost_total',
      'Number of times that another process took over the journal of this process, which did not renew its claim',
    ),
  }
}

/** Registers gauges whose values are read when metrics are collected. */
export function registerJournalGauges(
  registry: Registry,
  readings: { readonly pendingBytes: () => number; readonly oldestAgeSeconds: () => number },
): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  gauge(
    'tollgate_mcp_journal_pending_bytes',
    'Bytes of records of calls that ingest has not accepted yet',
    readings.pendingBytes,
  )
  gauge(
    'tollgate_mcp_journal_oldest_seconds',
    'Age in seconds of the oldest record that ingest has not accepted yet',
    readings.oldestAgeSeconds,
  )
}
