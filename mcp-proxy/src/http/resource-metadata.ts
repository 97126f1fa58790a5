import type { ServedServer } from '../servers/served-server.ts'

/** The metadata of the server as a protected resource (RFC 9728). */
export function resourceMetadataOf({ proxyUrl, issuer }: ServedServer): object {
  return {
    resource: proxyUrl,
    authorization_servers: [issuer],
    scopes_supported: ['openid', 'profile', 'email'],
    bearer_methods_supported: ['header'],
  }
}

/** Returns the URL of the metadata. A server with a host of its own has it at the root; others have it below the well-known path, with their own path. */
export function resourceMetadataUrl({ proxyUrl, issuer }: ServedServer): string {
  const { origin, pathname } = new URL(proxyUrl)
  const place = `${origin}/.well-known/oauth-protected-resource`
  return issuer === origin ? place : place + pathname
}

/** The value of `WWW-Authenticate` that leads clients to sign-in. */
export function challengeOf(server: ServedServer, hasToken: boolean): string {
  const metadata = `resource_metadata="${resourceMetadataUrl(server)}"`
  return hasToken ? `Bearer error="invalid_token", ${metadata}` : `Bearer ${metadata}`
}
