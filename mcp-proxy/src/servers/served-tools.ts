import type { Tool } from '@tollgate/domain/catalog/tool'
import type { ServedTool } from './served-server.ts'

/**
 * Returns the tools by name. Those that the MCP server no longer lists are among them: it may still answer calls of them, or list
 * them again, and they must not open to more plans than the provider has said.
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
