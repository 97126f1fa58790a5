import type { z } from 'zod'
import {
  clientRegistrationSchema,
  oauthErrorSchema,
  registeredClientSchema,
  revocationSchema,
  revokedSchema,
  signedInCustomerSchema,
  tokenRequestSchema,
  tokensSchema,
} from '@tollgate/schemas/http/customer-auth'
import { oauthErrorExamples } from '@tollgate/schemas/http/examples/customer-auth'
import { describedSchema } from './described-schema.ts'
import { examplesIn } from './with-examples.ts'

/*
 * Describes operations whose bodies are forms and whose errors are those of OAuth. Their routes have no schemas from which a
 * description could be generated.
 */

const tags = ['Customer sign-in']
const form = 'application/x-www-form-urlencoded'

export function customerAuthPaths(): Record<string, object> {
  return {
    '/v1/customer/auth/register': {
      post: {
        tags,
        security: [],
        parameters: [
          queryParameter('product_ref', 'The product whose MCP server the client is for'),
        ],
        requestBody: bodyOf('application/json', clientRegistrationSchema),
        responses: {
          '201': responseOf('Registered', registeredClientSchema),
          ...errorResponses(400),
        },
      },
    },
    '/v1/customer/auth/authorize': {
      get: {
        tags,
        security: [],
        parameters: [
          queryParameter('response_type', 'Always `code`'),
          queryParameter(
            'client_id',
            'Id of a registered client, or the address of its metadata document',
          ),
          queryParameter('redirect_uri', 'One of the redirect URIs that the client registered'),
          queryParameter('code_challenge', 'The SHA-256 of the verifier, in base64url'),
          queryParameter('code_challenge_method', 'Always `S256`'),
          queryParameter('state', 'Returned unchanged', false),
          queryParameter('scope', '`openid`, `profile`, `email`', false),
          queryParameter('resource', 'The address of the MCP server', false),
        ],
        responses: {
          '302': { description: 'Redirects to the page on which the customer signs in' },
          ...errorResponses(400),
        },
      },
    },
    '/v1/customer/auth/token': {
      post: {
        tags,
        security: [],
        requestBody: bodyOf(form, tokenRequestSchema),
        responses: { '200': responseOf('Tokens', tokensSchema), ...errorResponses(400, 401) },
      },
    },
    '/v1/customer/auth/revoke': {
      post: {
        tags,
        security: [],
        requestBody: bodyOf(form, revocationSchema),
        responses: { '200': responseOf('Revoked', revokedSchema), ...errorResponses(400, 401) },
      },
    },
    '/v1/customer/auth/userinfo': {
      get: {
        tags,
        security: [{ customerToken: [] }],
        responses: {
          '200': responseOf('The customer', signedInCustomerSchema),
          ...errorResponses(401),
        },
      },
    },
  }
}

function queryParameter(name: string, description: string, required = true): object {
  return { name, in: 'query', required, description, schema: { type: 'string' } }
}

function bodyOf(type: string, schema: z.ZodType): object {
  return { required: true, content: { [type]: { schema: describedSchema(schema, 'input') } } }
}

function responseOf(description: string, schema: z.ZodType): object {
  return {
    description,
    content: { 'application/json': { schema: describedSchema(schema, 'output') } },
  }
}

function errorResponses(...statuses: readonly number[]): Record<string, object> {
  const json = { schema: describedSchema(oauthErrorSchema, 'output') }
  const content = { 'application/json': { ...json, ...examplesIn(oauthErrorExamples) } }
  const description = 'Refused. `error` is an OAuth error code'
  return Object.fromEntries(statuses.map((status) => [String(status), { description, content }]))
}
