import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServedServer } from '../servers/served-server.ts'
import { sendError, sendJson } from './answers.ts'
import { addCorsHeaders, sendPreflight } from './cors.ts'

/** Answers a request for the metadata, which pages of every origin may read. */
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

/** The metadata of the server as a protected resource (RFC 9728). */
function resourceMetadataOf({ proxyUrl, issuer }: ServedServer): object {
  return {
    resource: proxyUrl,
    authorization_servers: [issuer],
    scopes_supported: ['openid', 'profile', 'email'],
    bearer_methods_supported: ['header'],
  }
}

/** Returns the URL of the metadata. A server with a host of its own has it at the root; others have it below the well-known path, with their own path. */
function resourceMetadataUrl({ proxyUrl, issuer }: ServedServer): string {
  const { origin, pathname } = new URL(proxyUrl)
  const place = `${origin}/.well-known/oauth-protected-resource`
  return issuer === origin ? place : place + pathname
}

/** The value of `WWW-Authenticate` that leads clients to sign-in (RFC 6750, 3). A request without a token gets no error. */
export function challengeOf(
  server: ServedServer,
  error?: 'invalid_token' | 'invalid_request',
): string {
  const metadata = `resource_metadata="${resourceMetadataUrl(server)}"`
  return error === undefined ? `Bearer ${metadata}` : `Bearer error="${error}", ${metadata}`
}
