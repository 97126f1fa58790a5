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
    help: 'Calls of tools that have ended and are in the journal, by their outcome',
    labelNames: ['space', 'outcome'] as const,
    registers,
  })
  for (const outcome of outcomes) {
    for (const space of ['sandbox', 'live']) settled.inc({ space, outcome }, 0)
  }
  return {
    settled,
    delivered: counter('tollgate_mcp_records_delivered_total', 'Records of calls that ingest took'),
    refused: counter(
      'tollgate_mcp_records_refused_total',
      'Records of calls that ingest does not take; they are in the file of refused records',
    ),
    failures: counter(
      'tollgate_mcp_delivery_failures_total',
      'Requests with records of calls that ingest did not answer as it should; they are repeated',
    ),
    damaged: counter(
      'tollgate_mcp_records_damaged_total',
      'Lines of the journal that cannot be read',
    ),
    adopted: counter(
      'tollgate_mcp_records_adopted_total',
      'Records of calls that a process that has ended left behind',
    ),
    lost: counter(
      'tollgate_mcp_journals_lost_total',
      'Times that another process took over the journal of this one, which had shown no sign of life',
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
    'Bytes of records of calls that ingest has not taken yet',
    readings.pendingBytes,
  )
  gauge(
    'tollgate_mcp_journal_oldest_seconds',
    'Age of the oldest record that ingest has not taken yet',
    readings.oldestAgeSeconds,
  )
}
