import { environmentNamed } from '@tollgate/schemas/environment'
import type { ApiServer } from '../access/api-server.ts'
import type { CustomerAuthParts as AppParts } from './customer-auth-parts.ts'
import { errorResponse, serverNotFound } from './responses.ts'
import type { CustomerAuth } from './customer-auth.ts'
import { jwks, metadata, resume, token } from './endpoints.ts'
import { formOf, headersOf, queryOf, sendAuthResponse, parseBodiesAsBytes } from './read-request.ts'
import { revoke } from './revoke-endpoint.ts'
import type { AuthResponse } from './run-provider.ts'
import { registerAuthOperations } from './register-operations.ts'
import {
  allowCrossOrigin,
  authorizeClient,
  registerClient,
  requireForm,
  type IssuerRequest,
} from './issuer-request.ts'
import { userinfo } from './userinfo-endpoint.ts'

/** The MCP proxy forwards requests for the authorization server of an MCP server to this path. */
const mountPath = '/oauth/:environment/:subdomain/*'

/** Registers the authorization servers of all MCP servers, and the operations at the shared address. */
export function registerCustomerAuth(app: ApiServer, parts: AppParts, auth: CustomerAuth): void {
  void app.register((instance, _options, done) => {
    parseBodiesAsBytes(instance)
    instance.route({
      method: ['GET', 'POST', 'OPTIONS'],
      url: mountPath,
      schema: { hide: true },
      handler: async (request, reply) => {
        const { environment, subdomain, '*': path } = request.params as Record<string, string>
        const known = environmentNamed(environment)
        // Clients send `{issuer}/oauth/token` both with and without the `oauth` in the path.
        const endpoint = (path ?? '').replace(/^oauth\//, '')
        allowCrossOrigin(reply, endpoint)
        if (request.method === 'OPTIONS') return reply.code(204).send()
        const issuer = known && (await auth.issuers.find(known, subdomain ?? ''))
        const response =
          issuer === undefined
            ? serverNotFound()
            : await handleEndpoint({ parts, auth, issuer, request }, endpoint)
        return sendAuthResponse(reply, response)
      },
    })
    registerAuthOperations(instance, parts, auth)
    done()
  })
}

async function handleEndpoint(served: IssuerRequest, endpoint: string): Promise<AuthResponse> {
  const { issuer, request } = served
  const headers = headersOf(request)
  const method = request.method === 'HEAD' ? 'GET' : request.method
  switch (`${method} ${endpoint}`) {
    case 'GET .well-known/oauth-authorization-server':
      return metadata(issuer)
    case 'GET jwks':
      return jwks(issuer)
    case 'GET authorize':
      return authorizeClient(served, queryOf(request))
    case 'POST authorize':
      return authorizeClient(served, await formOf(request))
    case 'POST register':
      return registerClient(served)
    case 'POST token':
      return requireForm(request) ?? token(issuer, await formOf(request), headers)
    case 'POST revoke':
      return revoke(issuer, headers, await formOf(request))
    case 'GET userinfo':
    case 'POST userinfo':
      return userinfo(issuer, headers)
  }
  const [, uid] = /^authorize\/([\w-]+)$/.exec(endpoint) ?? []
  if (method === 'GET' && uid !== undefined) {
    return resume(issuer, uid, queryOf(request).get('proof'), headers)
  }
  return errorResponse(404, 'invalid_request', 'There is nothing at this address.')
}
