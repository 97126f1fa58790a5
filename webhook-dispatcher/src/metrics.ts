import { registerCountedGauges } from '@tollgate/platform/observability/counted-gauges'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { Counter, Gauge, Histogram, type Registry } from '@tollgate/platform/observability/metrics'

export type DispatchMetrics = ReturnType<typeof createDispatchMetrics>

/** Creates the metrics of attempts and endpoints. The label `space` is the environment. */
export function createDispatchMetrics(registry: Registry) {
  const registers = [registry]
  const metrics = {
    attempts: new Counter({
      name: 'tollgate_webhook_attempts_total',
      help: 'Delivery attempts by outcome: succeeded, retry (another attempt follows) or exhausted (it was the last attempt)',
      labelNames: ['space', 'turn', 'outcome'] as const,
      registers,
    }),
    attemptSeconds: new Histogram({
      name: 'tollgate_webhook_attempt_seconds',
      help: 'Seconds from sending a request until its response was read or the attempt was abandoned',
      labelNames: ['space'] as const,
      buckets: [0.005, 0.02, 0.1, 0.5, 1, 3, 10, 20],
      registers,
    }),
    firstAttemptSeconds: new Histogram({
      name: 'tollgate_webhook_first_attempt_seconds',
      help: 'Seconds from an event until the first attempt to deliver it began',
      labelNames: ['space'] as const,
      buckets: [0.01, 0.05, 0.1, 0.25, 1, 5, 30, 300],
      registers,
    }),
    refused: new Counter({
      name: 'tollgate_webhook_outcomes_refused_total',
      help: 'Attempts that were stored without the response of the receiver, because PostgreSQL refused it',
      labelNames: ['space'] as const,
      registers,
    }),
    unsendable: new Counter({
      name: 'tollgate_webhook_unsendable_total',
      help: 'Deliveries that failed without an attempt, because their event is gone or cannot be read',
      labelNames: ['space'] as const,
      registers,
    }),
    disabled: new Counter({
      name: 'tollgate_webhook_endpoints_disabled_total',
      help: 'Endpoints that were disabled and get no deliveries until the provider enables them again, by reason',
      labelNames: ['space', 'reason'] as const,
      registers,
    }),
  }
  // Counters start at 0, so that the first event is visible as an increase.
  for (const space of environments) {
    metrics.refused.inc({ space }, 0)
    metrics.unsendable.inc({ space }, 0)
    for (const reason of ['attempts', 'gone']) metrics.disabled.inc({ space, reason }, 0)
  }
  return metrics
}

export type Waiting = { readonly deliveries: number; readonly oldestAgeSeconds: number }

/** Registers the gauges of the queue, which are counted for each scrape, and of the deliveries in flight. */
export function registerWaiting(
  registry: Registry,
  count: (space: Environment) => Promise<Waiting>,
  inFlight: (space: Environment) => number,
): void {
  registerCountedGauges(registry, count, {
    oldestAgeSeconds: {
      name: 'tollgate_webhook_queue_age_seconds',
      help: 'Seconds for which the oldest delivery has waited for its first attempt; 0 if none is waiting',
    },
    deliveries: {
      name: 'tollgate_webhook_queue_deliveries',
      help: 'Deliveries that are waiting for their first attempt',
    },
  })
  new Gauge({
    name: 'tollgate_webhook_in_flight',
    help: 'Deliveries that this process is sending now',
    labelNames: ['space'] as const,
    registers: [registry],
    collect() {
      for (const space of environments) this.set({ space }, inFlight(space))
    },
  })
}
