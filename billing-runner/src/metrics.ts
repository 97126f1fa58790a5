import { environments, type Environment } from '@tollgate/schemas/environment'
import { Counter, Gauge, Histogram, type Registry } from '@tollgate/platform/observability/metrics'

/** Events of the processor that should have been followed by now. */
export type CountOverdueEvents = (environment: Environment) => Promise<number>

export type JobMetrics = ReturnType<typeof createJobMetrics>

/** The numbers an operator watches; described where they are declared. `space` is an environment, or `control`. */
export function createJobMetrics(registry: Registry) {
  const registers = [registry]
  const labelNames = ['job', 'space'] as const
  return {
    items: new Counter({
      name: 'tollgate_billing_items_total',
      help: 'Purchases and sessions that jobs looked at, by what became of them; failed: a try failed',
      labelNames: ['job', 'space', 'outcome'] as const,
      registers,
    }),
    batchSeconds: new Histogram({
      name: 'tollgate_billing_batch_seconds',
      help: 'Time from the claim of a batch to its last effect',
      labelNames,
      buckets: [0.01, 0.05, 0.2, 1, 5, 20, 60],
      registers,
    }),
    lagSeconds: new Gauge({
      name: 'tollgate_billing_lag_seconds',
      help: 'How long ago the latest run of the job was due that is not finished; 0: it is',
      labelNames,
      registers,
    }),
    findings: new Gauge({
      name: 'tollgate_reconciliation_findings',
      help: 'What the newest reconciliation of each provider found and a look did not set right, by kind',
      labelNames: ['kind', 'space'] as const,
      registers,
    }),
    heldInvoices: new Gauge({
      name: 'tollgate_held_invoices',
      help: 'Open invoices that are too large to be charged at once, and wait for a person; as of the newest reconciliation',
      labelNames: ['space'] as const,
      registers,
    }),
    openClearing: new Gauge({
      name: 'tollgate_open_clearing_currencies',
      help: 'Currencies of which something stays at the processor, or is missing there, for longer than configured; as of the newest reconciliation',
      labelNames: ['space'] as const,
      registers,
    }),
    failures: new Counter({
      name: 'tollgate_billing_job_failures_total',
      help: 'Runs that broke off and are taken up again',
      labelNames,
      registers,
    }),
  }
}

/** Counted anew whenever somebody asks. Where that fails nothing is told, and other metrics are. */
export function registerOverdueEvents(registry: Registry, count: CountOverdueEvents): void {
  new Gauge({
    name: 'tollgate_processor_events_overdue',
    help: 'What the processor told of more than an hour ago, and nobody has managed to follow: it may be a payment that succeeded',
    labelNames: ['space'] as const,
    registers: [registry],
    async collect() {
      for (const space of environments) {
        try {
          this.set({ space }, await count(space))
        } catch {
          this.remove({ space })
        }
      }
    },
  })
}
