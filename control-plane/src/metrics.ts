import { Counter, Histogram, type Registry } from '@tollgate/platform/observability/metrics'

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

export type PeriodUsageAnswers = ReturnType<typeof createPeriodUsageAnswers>

/** `none`: it could not be said. */
export function createPeriodUsageAnswers(registry: Registry) {
  return new Counter({
    name: 'tollgate_control_period_usage_total',
    help: 'Limit checks and user infos answered here, by where the usage was read',
    labelNames: ['source'] as const,
    registers: [registry],
  })
}
