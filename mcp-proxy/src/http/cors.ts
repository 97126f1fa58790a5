import { parseUrl } from '@tollgate/schemas/parse-url'
import type { IncomingMessage, ServerResponse } from 'node:http'

const loopbackHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Returns whether a request with this `Origin` may reach an MCP server. Pages on this machine, on the server's own host and on the
 * configured sites may. This refuses pages whose own domain resolves to this server (DNS rebinding).
 */
export function isOriginAllowed(
  origin: string | undefined,
  host: string,
  allowed: ReadonlySet<string>,
): boolean {
  if (origin === undefined || allowed.has('*') || allowed.has(origin)) return true
  const url = parseUrl(origin)
  if (url === undefined) return false
  return loopbackHosts.has(url.hostname) || url.host === host.toLowerCase()
}

const allowedHeaders = [
  ...['Authorization', 'Content-Type', 'Accept', 'MCP-Protocol-Version', 'Mcp-Session-Id'],
  ...['Last-Event-ID', 'Mcp-Method', 'Mcp-Name', 'traceparent', 'tracestate', 'baggage'],
]
const exposedHeaders = 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate'

/**
 * Lets pages of every origin read responses. This is safe because the proxy reads no cookies. `isOriginAllowed` decides separately
 * which pages may send requests.
 */
export function addCorsHeaders(response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', '*')
  response.setHeader('access-control-expose-headers', exposedHeaders)
}

/**
 * Answers a preflight request. `Mcp-Param-*` headers are named after a tool's arguments, so each one that the browser requests is
 * allowed.
 */
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
