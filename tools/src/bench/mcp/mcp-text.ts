import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import { quantile } from '../../load/statistics.ts'
import type { McpResult, McpStage } from './measure-mcp.ts'

/** Returns the report next to a bare reverse proxy in the same run. The bare proxy shows the cost of any proxy on this machine. */
export function mcpText({ clients, callsPerSecond, stages }: McpResult): string {
  const row = ({ name, bare, ours, addedP50Ms, addedP99Ms }: McpStage): string[] => [
    name,
    formatCount(ours.calls),
    bare.p50Ms.toFixed(2),
    ours.p50Ms.toFixed(2),
    spread(addedP50Ms),
    bare.p99Ms.toFixed(2),
    ours.p99Ms.toFixed(2),
    spread(addedP99Ms),
    String(ours.errors + bare.errors),
  ]
  const header = ['stage', 'calls', 'bare p50 ms', 'ours', 'added', 'bare p99 ms', 'ours', 'added']
  return [
    `${clients} clients, ${formatCount(clients * callsPerSecond)} calls per second at fixed times; includes the load generator and the origin`,
    formatTable([...header, 'errors'], stages.map(row)),
    'added: median of the repeats, and their first and third quartile',
    'budget: added p50 < 1 ms and added p99 < 5 ms in every stage',
  ].join('\n\n')
}

function spread(values: readonly number[]): string {
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(values, share).toFixed(2))
  return `${middle} (${low} to ${high})`
}
