import { collectDefaultMetrics, Registry } from 'prom-client'

export { Counter, Gauge, Histogram, Registry } from 'prom-client'

/**
 * Creates the registry of one service, so that several services in one process have separate counts. Every sample has `labels`.
 */
export function createMetrics(
  service: string,
  labels: Readonly<Record<string, string>> = {},
): Registry {
  const registry = new Registry()
  registry.setDefaultLabels({ service, ...labels })
  collectDefaultMetrics({ register: registry })
  return registry
}
