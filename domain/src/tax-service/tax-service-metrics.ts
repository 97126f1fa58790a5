import { Counter, Histogram, type Registry } from '@tollgate/platform/observability/metrics'
import { environments } from '@tollgate/schemas/environment'
import type { TaxServiceParts } from './ask-tax-service.ts'

/** Creates the metrics of tax services. The label `space` is the environment. */
export function createTaxServiceMetrics(registry: Registry): TaxServiceParts['count'] {
  const outcomes = new Counter({
    name: 'tollgate_tax_service_questions_total',
    help: 'Questions to tax services of providers by outcome: answered, paused (not asked, because the service had failed), or why there was no answer',
    labelNames: ['space', 'outcome'] as const,
    registers: [registry],
  })
  const seconds = new Histogram({
    name: 'tollgate_tax_service_seconds',
    help: 'Seconds until a tax service answered or failed',
    labelNames: ['space'] as const,
    buckets: [0.05, 0.2, 0.5, 1, 3, 10],
    registers: [registry],
  })
  for (const space of environments) outcomes.inc({ space, outcome: 'answered' }, 0)
  return (space, outcome, duration) => {
    outcomes.inc({ space, outcome })
    if (outcome !== 'paused') seconds.observe({ space }, duration)
  }
}
