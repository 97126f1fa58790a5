import { serviceScopes } from '@tollgate/domain/api-keys/service-key'
import { listMeters } from '@tollgate/domain/meters/repository'
import { publishedMeters } from '@tollgate/domain/publishing/publish-meters'
import {
  ownKeyPath,
  ownKeySchema,
  ownMetersPath,
  type OwnKeyBody,
} from '@tollgate/schemas/http/own-key'
import type { FastifyRequest } from 'fastify'
import type { ApiServer } from '../../access/api-server.ts'
import { apiKeyOf, callerOf, credentialOf } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'

/**
 * Registers the routes that the data plane calls for keys and meters that it does not find in the hot state. They belong to no
 * client's contract.
 */
export function registerOwnKeyRoutes(app: ApiServer, parts: ReadParts): void {
  const schema = { hide: true, response: { 200: ownKeySchema } }
  app.get(ownKeyPath, { config: { scope: 'any', misplacedKey: 'served' }, schema }, ownKey)
  app.get(ownMetersPath, { config: { scope: 'any' }, schema: { hide: true } }, async (request) => {
    const caller = callerOf(request)
    return publishedMeters(await read(parts, caller, (sql) => listMeters(sql, caller.providerId)))
  })
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
