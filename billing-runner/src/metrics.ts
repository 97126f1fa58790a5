import type { Environment } from '@tollgate/schemas/environment'
import { registerCountedGauges } from '@tollgate/platform/observability/counted-gauges'
import { Counter, Gauge, Histogram, type Registry } from '@tollgate/platform/observability/metrics'

/** Counts events of the payment processor that are more than an hour old and not applied yet. */
export type CountOverdueEvents = (environment: Environment) => Promise<number>

export type JobMetrics = ReturnType<typeof createJobMetrics>

/** Creates the metrics of jobs. The label `space` is an environment or `control`. */
export function createJobMetrics(registry: Registry) {
  const registers = [registry]
  const labelNames = ['job', 'space'] as const
  return {
    items: new Counter({
      name: 'tollgate_billing_items_total',
      help: 'Purchases and sessions that jobs processed, by outcome; failed counts failed attempts',
      labelNames: ['job', 'space', 'outcome'] as const,
      registers,
    }),
    batchSeconds: new Histogram({
      name: 'tollgate_billing_batch_seconds',
      help: 'Seconds from the claim of a batch until its last effect',
      labelNames,
      buckets: [0.01, 0.05, 0.2, 1, 5, 20, 60],
      registers,
    }),
    lagSeconds: new Gauge({
      name: 'tollgate_billing_lag_seconds',
      help: 'Seconds since the latest unfinished run of the job was due; 0 if it is finished',
      labelNames,
      registers,
    }),
    findings: new Gauge({
      name: 'tollgate_reconciliation_findings',
      help: 'Differences that the latest reconciliation of each provider found and did not repair, by kind',
      labelNames: ['kind', 'space'] as const,
      registers,
    }),
    heldInvoices: new Gauge({
      name: 'tollgate_held_invoices',
      help: 'Open invoices that are too large to be charged at once and need a decision by a person, as of the latest reconciliation',
      labelNames: ['space'] as const,
      registers,
    }),
    openClearing: new Gauge({
      name: 'tollgate_open_clearing_currencies',
      help: 'Currencies with money that stays at the processor, or is missing there, for longer than configured, as of the latest reconciliation',
      labelNames: ['space'] as const,
      registers,
    }),
    failures: new Counter({
      name: 'tollgate_billing_job_failures_total',
      help: 'Runs that failed and were retried',
      labelNames,
      registers,
    }),
  }
}

/** Registers the gauge, which is counted for each scrape. */
export function registerOverdueEvents(registry: Registry, count: CountOverdueEvents): void {
  registerCountedGauges(registry, async (space) => ({ events: await count(space) }), {
    events: {
      name: 'tollgate_processor_events_overdue',
      help: 'Events of the processor that are more than an hour old and could not be applied yet; one of them may be a payment that succeeded',
    },
  })
}
