import type { Tool } from '@tollgate/domain/catalog/tool'
import type { ServedTool } from './served-server.ts'

/**
 * Returns the tools by name, including tools that the MCP server no longer lists. The server may still answer their calls or list
 * them again, and they must not become open to more plans than the provider configured.
 */
export function servedToolsOf(tools: readonly Tool[]): ReadonlyMap<string, ServedTool> {
  return new Map(tools.map((tool) => [tool.name, servedToolOf(tool)]))
}

function servedToolOf(tool: Tool): ServedTool {
  const { access, planRefs, onlyListedPlans, cancelledCalls, hasVanished } = tool
  return {
    ...{ access, planRefs, onlyListedPlans },
    ...(cancelledCalls !== null && { cancelledCalls }),
    ...(hasVanished && { hasVanished }),
  }
}
