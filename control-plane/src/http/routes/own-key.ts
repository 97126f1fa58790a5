import { ownKeyPath, ownKeySchema } from '@tollgate/schemas/http/own-key'
import type { ApiServer } from '../api-server.ts'
import { apiKeyOf } from '../plugins/authentication.ts'

/** Asked by the data plane for keys that it cannot find in the hot state just now. Part of no client's contract. */
export function registerOwnKeyRoute(app: ApiServer): void {
  app.get(ownKeyPath, { schema: { hide: true, response: { 200: ownKeySchema } } }, (request) => {
    const { keyId, providerId, environment, expiresAt } = apiKeyOf(request)
    return { keyId, providerId, environment, expiresAtMs: expiresAt?.getTime() ?? null }
  })
}
