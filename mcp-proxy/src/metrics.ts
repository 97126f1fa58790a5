import { Counter, Gauge, Histogram, type Registry } from '@tollgate/platform/observability/metrics'

export type ProxyMetrics = ReturnType<typeof createProxyMetrics>

/** Metrics of the MCP proxy. The label `space` is an environment. */
export function createProxyMetrics(registry: Registry) {
  const registers = [registry]
  return {
    requestSeconds: new Histogram({
      name: 'tollgate_mcp_request_seconds',
      help: 'Seconds from a request to the end of its response, by HTTP method and status; without streams of notifications',
      labelNames: ['method', 'status'] as const,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5, 30, 300],
      registers,
    }),
    requestsRefused: new Counter({
      name: 'tollgate_mcp_requests_refused_total',
      help: 'Requests that were refused because too many are open, by limit: of the customer, the server or the process, or any limit of streams',
      labelNames: ['bound'] as const,
      registers,
    }),
    originErrors: new Counter({
      name: 'tollgate_mcp_origin_errors_total',
      help: 'Requests without a result from an MCP server, by outcome: refused with a 4xx status, failed, or cancelled by the client',
      labelNames: ['space', 'end'] as const,
      registers,
    }),
  }
}

/** Registers gauges whose values are read when metrics are collected. */
export function registerOpenGauges(
  registry: Registry,
  readings: { readonly requests: () => number; readonly streams: () => number },
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
  gauge('tollgate_mcp_open_requests', 'Open requests to MCP servers', readings.requests)
  gauge('tollgate_mcp_open_streams', 'Open streams of notifications of clients', readings.streams)
}
