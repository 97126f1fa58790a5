import type { JsonObject } from '@tollgate/schemas/json-object'
import { virtualTools } from '@tollgate/schemas/http/mcp'
import type { ServedServer } from '../servers/served-server.ts'
import { isPublic } from './plan-access.ts'
import { listedVirtualTools } from './virtual-tools.ts'
import { widenOutputSchema } from './widen-output-schema.ts'

/**
 * The origin's tools as clients see them. `onCollision` is called for a tool of the origin that has the name of a tool of the
 * proxy: it is left out, because a call of that name is answered by the proxy. Everything else of a tool is kept as it is.
 */
export function adaptTools(
  server: ServedServer,
  tools: readonly JsonObject[],
  isLastPage: boolean,
  onCollision: (toolName: string) => void,
): JsonObject[] {
  const own = tools.flatMap((tool) => {
    const { name } = tool
    if (typeof name !== 'string') return [tool]
    if (virtualTools.has(name)) {
      onCollision(name)
      return []
    }
    return [isPublic(server, name) ? tool : withPaywall(tool)]
  })
  return isLastPage ? [...own, ...listedVirtualTools] : own
}

function withPaywall(tool: JsonObject): JsonObject {
  const { outputSchema } = tool
  if (typeof outputSchema !== 'object' || outputSchema === null) return tool
  return { ...tool, outputSchema: widenOutputSchema(outputSchema as JsonObject) }
}
