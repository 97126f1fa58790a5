import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServedServer } from '../servers/served-server.ts'
import { sendError, sendJson } from './send-response.ts'
import { addCorsHeaders, sendPreflight } from './cors.ts'

/** Answers a request for the resource metadata, which pages of every origin may read. */
export function sendResourceMetadata(
  request: IncomingMessage,
  response: ServerResponse,
  server: ServedServer,
): void {
  addCorsHeaders(response)
  const { method = '' } = request
  if (method === 'OPTIONS') return sendPreflight(request, response)
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD, OPTIONS')
    return sendError(response, 405, 'Method not allowed. Read the metadata with GET.')
  }
  response.setHeader('cache-control', 'public, max-age=60')
  sendJson(response, 200, JSON.stringify(resourceMetadataOf(server)))
}

/** Returns the metadata of the server as a protected resource (RFC 9728). */
function resourceMetadataOf({ proxyUrl, issuer }: ServedServer): object {
  return {
    resource: proxyUrl,
    authorization_servers: [issuer],
    scopes_supported: ['openid', 'profile', 'email'],
    bearer_methods_supported: ['header'],
  }
}

/**
 * Returns the URL of the metadata. For a server with its own host it is at the root. For other servers it is below the well-known
 * path, followed by the server's path.
 */
function resourceMetadataUrl({ proxyUrl, issuer }: ServedServer): string {
  const { origin, pathname } = new URL(proxyUrl)
  const place = `${origin}/.well-known/oauth-protected-resource`
  return issuer === origin ? place : place + pathname
}

/**
 * Returns the value of `WWW-Authenticate` that makes clients start sign-in (RFC 6750, 3). A request without a token gets no error
 * code.
 */
export function challengeOf(
  server: ServedServer,
  error?: 'invalid_token' | 'invalid_request',
): string {
  const metadata = `resource_metadata="${resourceMetadataUrl(server)}"`
  return error === undefined ? `Bearer ${metadata}` : `Bearer error="${error}", ${metadata}`
}
