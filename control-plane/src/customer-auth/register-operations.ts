import type { FastifyReply, FastifyRequest } from 'fastify'
import { decodeJwt } from 'jose'
import type { ApiServer } from '../access/api-server.ts'
import type { CustomerAuthParts as AppParts } from './customer-auth-parts.ts'
import { errorResponse } from './responses.ts'
import { clientCredentialsOf } from './client-credentials.ts'
import type { CustomerAuth } from './customer-auth.ts'
import { token } from './endpoints.ts'
import type { Issuer } from './issuers.ts'
import { formOf, headersOf, queryOf, sendAuthResponse } from './read-request.ts'
import { allowCrossOrigin, registerClient, requireForm } from './issuer-request.ts'
import { revoke } from './revoke-endpoint.ts'
import type { AuthResponse } from './run-provider.ts'
import { bearerOf, userinfo } from './userinfo-endpoint.ts'

const basePath = '/v1/customer/auth'

/**
 * Registers the same endpoints at one address for all MCP servers. The product, the resource, the client or the token of a request
 * selects the server.
 */
export function registerAuthOperations(app: ApiServer, parts: AppParts, auth: CustomerAuth): void {
  const { issuers } = auth
  const schema = { hide: true }
  const serve =
    (answer: (request: FastifyRequest) => Promise<AuthResponse>) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      allowCrossOrigin(reply, request.url.includes('/authorize') ? 'authorize' : '')
      return sendAuthResponse(reply, await answer(request))
    }

  for (const endpoint of ['register', 'token', 'revoke', 'userinfo']) {
    app.options(`${basePath}/${endpoint}`, { schema }, async (_request, reply) => {
      allowCrossOrigin(reply, endpoint)
      return reply.code(204).send()
    })
  }

  app.post(
    `${basePath}/register`,
    { schema },
    serve(async (request) => {
      const productRef = queryOf(request).get('product_ref')
      if (productRef === null || productRef === '') {
        return errorResponse(400, 'invalid_request', 'Name the product in `product_ref`.')
      }
      const issuer = await issuers.findOfProduct(productRef)
      return issuer === undefined
        ? errorResponse(400, 'invalid_request', `Product ${productRef} has no MCP server.`)
        : registerClient({ parts, auth, issuer, request })
    }),
  )

  app.get(
    `${basePath}/authorize`,
    { schema },
    serve(async (request) => {
      const query = queryOf(request)
      const issuer = await issuerOf(auth, query, query.get('client_id') ?? undefined)
      if (issuer === undefined) return unknownClient(400)
      // The cookies and the rest of the flow belong to the issuer's own address, so redirect there.
      const location = `${issuer.address.issuer}/oauth/authorize?${query.toString()}`
      return { status: 302, headers: { location, 'cache-control': 'no-store' }, body: '' }
    }),
  )

  app.post(
    `${basePath}/token`,
    { schema },
    serve(async (request) => {
      const refused = requireForm(request)
      if (refused !== undefined) return refused
      const [form, headers] = [await formOf(request), headersOf(request)]
      const issuer = await issuerOf(auth, form, clientCredentialsOf(headers, form)?.clientId)
      return issuer === undefined ? unknownClient(401) : token(issuer, form, headers)
    }),
  )

  app.post(
    `${basePath}/revoke`,
    { schema },
    serve(async (request) => {
      const [form, headers] = [await formOf(request), headersOf(request)]
      const issuer = await issuerOf(auth, form, clientCredentialsOf(headers, form)?.clientId)
      return issuer === undefined ? unknownClient(401) : revoke(issuer, headers, form)
    }),
  )

  app.get(
    `${basePath}/userinfo`,
    { schema },
    serve(async (request) => {
      const headers = headersOf(request)
      return userinfo(await issuerOfToken(auth, bearerOf(headers)), headers)
    }),
  )
}

/**
 * Finds the issuer that a request is for. A client that publishes its metadata is known at every server, so it must name the
 * resource.
 */
async function issuerOf(
  { issuers }: CustomerAuth,
  parameters: URLSearchParams,
  clientId: string | undefined,
): Promise<Issuer | undefined> {
  const resource = parameters.get('resource')
  const ofResource = resource === null ? undefined : await issuers.findOfResource(resource)
  if (ofResource !== undefined) return ofResource
  const ofToken = await issuerOfToken({ issuers }, parameters.get('token') ?? undefined)
  if (ofToken !== undefined) return ofToken
  return clientId === undefined ? undefined : issuers.findOfClient(clientId)
}

/** Finds the issuer that the token names. The caller verifies the token afterwards. */
async function issuerOfToken(
  { issuers }: Pick<CustomerAuth, 'issuers'>,
  token: string | undefined,
): Promise<Issuer | undefined> {
  if (token === undefined) return undefined
  try {
    const { aud } = decodeJwt(token)
    return typeof aud === 'string' ? await issuers.findOfResource(aud) : undefined
  } catch {
    return undefined
  }
}

function unknownClient(status: 400 | 401): AuthResponse {
  const description =
    'The client is not registered. Register it, or name the MCP server in `resource`.'
  return errorResponse(status, 'invalid_client', description)
}
