import { environments, type Environment } from '@tollgate/schemas/environment'
import { Counter, Gauge, Histogram, type Registry } from '@tollgate/platform/observability/metrics'

export type DispatchMetrics = ReturnType<typeof createDispatchMetrics>

/** The numbers an operator watches; described where they are declared. `space` is an environment. */
export function createDispatchMetrics(registry: Registry) {
  const registers = [registry]
  const metrics = {
    attempts: new Counter({
      name: 'tollgate_webhook_attempts_total',
      help: 'Attempts to deliver, by what becomes of the delivery: succeeded, retry, or exhausted after the last one',
      labelNames: ['space', 'turn', 'outcome'] as const,
      registers,
    }),
    attemptSeconds: new Histogram({
      name: 'tollgate_webhook_attempt_seconds',
      help: 'Time from sending to the end of the answer, or to giving up',
      labelNames: ['space'] as const,
      buckets: [0.005, 0.02, 0.1, 0.5, 1, 3, 10, 20],
      registers,
    }),
    firstAttemptSeconds: new Histogram({
      name: 'tollgate_webhook_first_attempt_seconds',
      help: 'Time from an event to the beginning of the first attempt to deliver it',
      labelNames: ['space'] as const,
      buckets: [0.01, 0.05, 0.1, 0.25, 1, 5, 30, 300],
      registers,
    }),
    refused: new Counter({
      name: 'tollgate_webhook_outcomes_refused_total',
      help: 'Attempts that were written without what was answered, because PostgreSQL did not take it',
      labelNames: ['space'] as const,
      registers,
    }),
    unsendable: new Counter({
      name: 'tollgate_webhook_unsendable_total',
      help: 'Deliveries that were given up because their event is gone or cannot be read',
      labelNames: ['space'] as const,
      registers,
    }),
    disabled: new Counter({
      name: 'tollgate_webhook_endpoints_disabled_total',
      help: 'Endpoints that get no more until their owner enables them again, by why',
      labelNames: ['space', 'reason'] as const,
      registers,
    }),
  }
  // Known from the start, so that the first one is seen as an increase.
  for (const space of environments) {
    metrics.refused.inc({ space }, 0)
    metrics.unsendable.inc({ space }, 0)
    for (const reason of ['attempts', 'gone']) metrics.disabled.inc({ space, reason }, 0)
  }
  return metrics
}

export type Waiting = { readonly deliveries: number; readonly oldestAgeSeconds: number }

/** Counted anew whenever somebody asks. Where that fails nothing is told, and other metrics are. */
export function registerWaiting(
  registry: Registry,
  count: (space: Environment) => Promise<Waiting>,
  inFlight: (space: Environment) => number,
): void {
  const shared = { labelNames: ['space'] as const, registers: [registry] }
  // Gauges are asked side by side, and each is told as soon as it has answered: both wait for one count.
  let counting: Promise<Counted[]> | undefined
  const counted = (): Promise<Counted[]> => {
    counting ??= countAll(count).finally(() => (counting = undefined))
    return counting
  }
  const tell = async (gauge: Gauge<'space'>, of: keyof Waiting): Promise<void> => {
    for (const { space, waiting } of await counted()) {
      if (waiting === undefined) gauge.remove({ space })
      else gauge.set({ space }, waiting[of])
    }
  }
  new Gauge({
    name: 'tollgate_webhook_queue_age_seconds',
    help: 'Age of the oldest delivery that waits for its first attempt; 0: none does',
    ...shared,
    collect() {
      return tell(this, 'oldestAgeSeconds')
    },
  })
  new Gauge({
    name: 'tollgate_webhook_queue_deliveries',
    help: 'Deliveries that wait for their first attempt',
    ...shared,
    collect() {
      return tell(this, 'deliveries')
    },
  })
  new Gauge({
    name: 'tollgate_webhook_in_flight',
    help: 'Deliveries that this process is sending',
    ...shared,
    collect() {
      for (const space of environments) this.set({ space }, inFlight(space))
    },
  })
}

type Counted = { readonly space: Environment; readonly waiting: Waiting | undefined }

function countAll(count: (space: Environment) => Promise<Waiting>): Promise<Counted[]> {
  const countIn = async (space: Environment): Promise<Counted> => {
    try {
      return { space, waiting: await count(space) }
    } catch {
      return { space, waiting: undefined }
    }
  }
  return Promise.all(environments.map(countIn))
}
