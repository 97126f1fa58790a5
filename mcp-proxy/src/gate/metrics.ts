import { Counter, Histogram, type Registry } from '@tollgate/platform/observability/metrics'

export type GateMetrics = ReturnType<typeof createGateMetrics>

export function createGateMetrics(registry: Registry) {
  const registers = [registry]
  return {
    admissions: new Counter({
      name: 'tollgate_mcp_admissions_total',
      help: 'Calls of protected tools by what was decided before the MCP server was asked; journal_full: their records would find no room',
      labelNames: ['decision'] as const,
      registers,
    }),
    admissionSeconds: new Histogram({
      name: 'tollgate_mcp_admission_seconds',
      help: 'Time that plan, limit and hold of a call took',
      buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1, 3],
      registers,
    }),
    paywalls: new Counter({
      name: 'tollgate_mcp_paywalls_total',
      help: 'Calls that were answered with a paywall, by why and in which form',
      labelNames: ['reason', 'form'] as const,
      registers,
    }),
    collisions: new Counter({
      name: 'tollgate_mcp_tool_name_collisions_total',
      help: 'Times that a tool of an MCP server was left out of a list because a tool of the proxy has its name',
      registers,
    }),
  }
}
