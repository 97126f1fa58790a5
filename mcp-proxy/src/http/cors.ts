import type { IncomingMessage, ServerResponse } from 'node:http'

const loopbackNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Returns whether a request with this `Origin` may reach an MCP server. Pages of this machine, of the server's own host and of the
 * configured sites may; a page that somebody's DNS has pointed here may not.
 */
export function isOriginAllowed(
  origin: string | undefined,
  host: string,
  allowed: ReadonlySet<string>,
): boolean {
  if (origin === undefined || allowed.has('*') || allowed.has(origin)) return true
  if (!URL.canParse(origin)) return false
  const url = new URL(origin)
  return loopbackNames.has(url.hostname) || url.host === host.toLowerCase()
}

const allowedHeaders = [
  ...['Authorization', 'Content-Type', 'Accept', 'MCP-Protocol-Version', 'Mcp-Session-Id'],
  ...['Last-Event-ID', 'Mcp-Method', 'Mcp-Name', 'traceparent', 'tracestate', 'baggage'],
]
const exposedHeaders = 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate'

/** No cookies are ever read, so that every page may see answers; which pages may send requests is checked for each of them. */
export function addCorsHeaders(response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', '*')
  response.setHeader('access-control-expose-headers', exposedHeaders)
}

/** `Mcp-Param-*` headers are named after a tool's arguments, so those that a browser asks for are allowed one by one. */
export function sendPreflight(request: IncomingMessage, response: ServerResponse): void {
  const wanted = String(request.headers['access-control-request-headers'] ?? '').split(',')
  const params = wanted
    .map((each) => each.trim())
    .filter((each) => /^mcp-param-[\w-]+$/i.test(each))
  response.writeHead(204, {
    'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
    'access-control-allow-headers': [...allowedHeaders, ...params].join(', '),
    'access-control-max-age': '86400',
  })
  response.end()
}
