import { Counter, Histogram, type Registry } from '@tollgate/platform/observability/metrics'

export type GateMetrics = ReturnType<typeof createGateMetrics>

export function createGateMetrics(registry: Registry) {
  const registers = [registry]
  return {
    admissions: new Counter({
      name: 'tollgate_mcp_admissions_total',
      help: 'Calls of protected tools, by the decision before they reach the MCP server; journal_full means that the journal has no space for their records',
      labelNames: ['decision'] as const,
      registers,
    }),
    admissionSeconds: new Histogram({
      name: 'tollgate_mcp_admission_seconds',
      help: 'Seconds to check plan and limit of a call, and to hold its unit',
      buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1, 3],
      registers,
    }),
    paywalls: new Counter({
      name: 'tollgate_mcp_paywalls_total',
      help: 'Calls that were answered with a paywall, by reason and form',
      labelNames: ['reason', 'form'] as const,
      registers,
    }),
    collisions: new Counter({
      name: 'tollgate_mcp_tool_name_collisions_total',
      help: 'Number of times that a tool of an MCP server was removed from a list because a tool of the proxy has the same name',
      registers,
    }),
  }
}
