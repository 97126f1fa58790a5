import { serviceScopes } from '@tollgate/domain/api-keys/service-key'
import { ownKeyPath, ownKeySchema, type OwnKeyBody } from '@tollgate/schemas/http/own-key'
import type { FastifyRequest } from 'fastify'
import type { ApiServer } from '../../access/api-server.ts'
import { apiKeyOf, credentialOf } from '../../access/caller.ts'

/**
 * Registers a route that the data plane calls for keys that it does not find in the hot state. It belongs to no client's contract.
 */
export function registerOwnKeyRoute(app: ApiServer): void {
  const schema = { hide: true, response: { 200: ownKeySchema } }
  app.get(ownKeyPath, { config: { scope: 'any', misplacedKey: 'served' }, schema }, ownKey)
}

function ownKey(request: FastifyRequest): OwnKeyBody {
  const credential = credentialOf(request)
  if (credential.kind === 'service') {
    const scopes = [...serviceScopes]
    return { ...credential.service, keyId: 'service', expiresAtMs: null, scopes }
  }
  const { keyId, providerId, environment, expiresAt, scopes, isMisplaced, isStrict } =
    apiKeyOf(request)
  const expiresAtMs = expiresAt?.getTime() ?? null
  return {
    ...{ keyId, providerId, environment, expiresAtMs, isMisplaced, isStrict },
    scopes: [...scopes],
  }
}
