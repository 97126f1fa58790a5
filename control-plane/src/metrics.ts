import { Counter, Gauge, Histogram, type Registry } from '@tollgate/platform/observability/metrics'
import { environments } from '@tollgate/schemas/environment'
import type { UsageLag } from './jobs/usage-lag.ts'

export type RequestSeconds = ReturnType<typeof createRequestSeconds>

export function createRequestSeconds(registry: Registry) {
  return new Histogram({
    name: 'tollgate_control_request_seconds',
    help: 'From a request of the management API to the end of its answer',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [registry],
  })
}

export type UnknownNames = ReturnType<typeof createUnknownNames>

export function createUnknownNames(registry: Registry) {
  return new Counter({
    name: 'tollgate_control_unknown_names_total',
    help: 'Fields and parameters of the management API that are unknown, by what the client got',
    labelNames: ['kind', 'outcome'] as const,
    registers: [registry],
  })
}

export type PeriodUsageAnswers = ReturnType<typeof createPeriodUsageAnswers>

/** Counts limit checks and user infos by the source of the usage. The source is `none` if the usage could not be read. */
export function createPeriodUsageAnswers(registry: Registry) {
  return new Counter({
    name: 'tollgate_control_period_usage_total',
    help: 'Limit checks and user infos answered here, by where the usage was read',
    labelNames: ['source'] as const,
    registers: [registry],
  })
}

export function registerUsageLag(registry: Registry, lag: UsageLag): void {
  new Gauge({
    name: 'tollgate_control_usage_events_behind_seconds',
    help: 'How long ago the sink stored what usage.recorded was told of last; up to two rounds of the job where it keeps up',
    labelNames: ['space'] as const,
    registers: [registry],
    collect() {
      for (const space of environments) this.set({ space }, lag.seconds(space))
    },
  })
}
