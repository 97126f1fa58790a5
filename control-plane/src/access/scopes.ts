import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import { serviceScopes } from '@tollgate/domain/api-keys/service-key'
import { scopesOfRole } from '@tollgate/schemas/console-roles'
import type { KeyScope } from '@tollgate/schemas/key-scopes'
import { refusals } from '../errors.ts'
import { credentialOf, type Credential } from './caller.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scopes of which a caller needs one. Default: `read` for GET and HEAD, `manage` for other methods. */
    scope?: KeyScope | readonly [KeyScope, ...KeyScope[]] | 'any'
  }
}

/** Refuses a request to a route whose scope the credential does not have. */
export function requireScopeOfRoute(credential: Credential, request: FastifyRequest): void {
  const { config } = request.routeOptions
  requireScope(credential, config.scope ?? scopeOfMethod(request.method))
}

function requireScope(
  credential: Credential,
  scope: NonNullable<FastifyContextConfig['scope']>,
): void {
  if (scope === 'any') return
  const [needed, ...others] = typeof scope === 'string' ? [scope] : scope
  if ([needed, ...others].some((each) => scopesOf(credential).includes(each))) return
  throw credential.kind === 'user'
    ? refusals.roleTooLow(credential.session.role)
    : refusals.scopeMissing(needed)
}

export function scopesOf(credential: Credential): readonly KeyScope[] {
  switch (credential.kind) {
    case 'key':
      return credential.key.scopes
    case 'user':
      return scopesOfRole(credential.session.role)
    case 'service':
      return serviceScopes
  }
}

/**
 * Returns whether the caller may change purchases. Responses to other callers contain neither links to a customer's page nor client
 * secrets of payments, because both let the holder act as the customer.
 */
export function mayManage(request: FastifyRequest): boolean {
  return scopesOf(credentialOf(request)).includes('manage')
}

function scopeOfMethod(method: string): KeyScope {
  return method === 'GET' || method === 'HEAD' ? 'read' : 'manage'
}
