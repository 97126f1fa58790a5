/** The MCP extension with which clients announce that they show views of tools, and the media type of such a view. */
export const appsExtension = 'io.modelcontextprotocol/ui'
export const appMimeType = 'text/html;profile=mcp-app'

/** URI of the view for the proxy's own tools that return a link to a hosted page. */
export const accountViewUri = 'ui://tollgate/account'

/** Returns whether a URI or URI template belongs to the proxy. Resources of an origin under such a URI are not reachable. */
export function isProxyUri(uri: unknown): boolean {
  return typeof uri === 'string' && /^ui:\/\/tollgate(?:[/?#:]|$)/i.test(uri)
}
