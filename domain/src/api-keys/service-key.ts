import { createHmac, timingSafeEqual } from 'node:crypto'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { KeyScope } from '@tollgate/schemas/key-scopes'

/*
 * The key with which one service of the installation calls another service on behalf of a provider:
 * `tgs_<environment>_<provider>_<mac>`, sent as a bearer token. It is derived from the secret that the services share.
 * So nothing is stored, and no key of the provider is used.
 */

const prefix = 'tgs'

export type ServiceKeyHolder = {
  readonly environment: Environment
  readonly providerId: string
}

/** Scopes that a service has when it acts for a provider. */
export const serviceScopes: readonly KeyScope[] = ['ingest', 'read', 'manage']

/** Actor name in the audit log. */
export const serviceActorName = 'service:mcp-proxy'

export function serviceKeyOf(secret: string, holder: ServiceKeyHolder): string {
  const { environment, providerId } = holder
  return `${prefix}_${environment}_${providerId}_${macOf(secret, holder)}`
}

export function isServiceKey(authorization: string): boolean {
  return authorization.startsWith(`Bearer ${prefix}_`)
}

/**
 * Returns the provider and environment of a service key in an Authorization header. Returns undefined if the header is
 * not a service key of this secret.
 */
export function holderOfServiceKey(
  secret: string,
  authorization: string,
): ServiceKeyHolder | undefined {
  const [, environment, providerId, mac] = pattern.exec(authorization) ?? []
  if (environment === undefined || providerId === undefined || mac === undefined) return undefined
  const holder = { environment: environment as Environment, providerId }
  return isSame(macOf(secret, holder), mac) ? holder : undefined
}

const pattern = new RegExp(
  `^Bearer ${prefix}_(${environments.join('|')})_([0-9A-Za-z_-]{1,60})_([0-9a-f]{32})$`,
)

/** 128 bits of the MAC. The whole key must fit into the header length under which ingest caches keys. */
function macOf(secret: string, { environment, providerId }: ServiceKeyHolder): string {
  const mac = createHmac('sha256', secret).update(`service-key:${environment}:${providerId}`)
  return mac.digest().subarray(0, 16).toString('hex')
}

function isSame(expected: string, given: string): boolean {
  return (
    expected.length === given.length && timingSafeEqual(Buffer.from(expected), Buffer.from(given))
  )
}
