/** The extension of MCP by which clients say that they show views of tools, and the type of such a view. */
export const appsExtension = 'io.modelcontextprotocol/ui'
export const appMimeType = 'text/html;profile=mcp-app'

/** The view of the proxy's own tools that lead to a hosted page. */
export const accountViewUri = 'ui://tollgate/account'

/** Whether the URI, or a template of URIs, belongs to the proxy. An origin's resources of that name are not reachable. */
export function isOwnUri(uri: unknown): boolean {
  return typeof uri === 'string' && /^ui:\/\/tollgate(?:[/?#:]|$)/i.test(uri)
}
