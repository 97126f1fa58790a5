import { collectDefaultMetrics, Registry } from 'prom-client'

export { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** One registry per service, so that several services in one process do not share counts. */
export function createMetrics(service: string): Registry {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  collectDefaultMetrics({ register: registry })
  return registry
}
