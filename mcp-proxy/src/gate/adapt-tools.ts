import { isPlainObject, type JsonObject } from '@tollgate/schemas/json-object'
import { virtualTools } from '@tollgate/schemas/http/mcp'
import { isProxyUri } from '../apps/apps-extension.ts'
import type { ServedServer } from '../servers/served-server.ts'
import type { ClientCapabilities } from './gate.ts'
import { isPublic } from './plan-access.ts'
import { listedVirtualToolsFor } from './virtual-tools.ts'
import { widenOutputSchema } from './widen-output-schema.ts'

/**
 * Returns the origin's tools as clients see them. A tool of the origin with the name of one of the proxy's tools is left out,
 * because the proxy answers calls of that name. `onCollision` is called for each such tool. All other members of a tool are kept.
 */
export function adaptTools(
  server: ServedServer,
  client: Pick<ClientCapabilities, 'showsApps'>,
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
    const apart = withoutOwnView(tool)
    return [isPublic(server, name) ? apart : withPaywall(apart)]
  })
  return isLastPage ? [...own, ...listedVirtualToolsFor(client)] : own
}

/**
 * Removes the proxy's view from a tool of the origin. The view must only show results of the proxy, otherwise an origin could
 * choose where its buttons lead.
 */
function withoutOwnView(tool: JsonObject): JsonObject {
  const { _meta: meta } = tool
  if (!isPlainObject(meta)) return tool
  const { ui, 'ui/resourceUri': olderUri, ...others } = meta
  const isBound = (isPlainObject(ui) && isProxyUri(ui['resourceUri'])) || isProxyUri(olderUri)
  return isBound ? { ...tool, _meta: others } : tool
}

function withPaywall(tool: JsonObject): JsonObject {
  const { outputSchema } = tool
  if (typeof outputSchema !== 'object' || outputSchema === null) return tool
  return { ...tool, outputSchema: widenOutputSchema(outputSchema as JsonObject) }
}
