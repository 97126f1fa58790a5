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
        parameters: [query('product_ref', 'The product whose MCP server the client is for')],
        requestBody: bodyOf('application/json', clientRegistrationSchema),
        responses: { '201': answer('Registered', registeredClientSchema), ...refused(400) },
      },
    },
    '/v1/customer/auth/authorize': {
      get: {
        tags,
        security: [],
        parameters: [
          query('response_type', 'Always `code`'),
          query('client_id', 'Of a registered client, or the address of its metadata document'),
          query('redirect_uri', 'One of those that the client registered'),
          query('code_challenge', 'The SHA-256 of the verifier, in base64url'),
          query('code_challenge_method', 'Always `S256`'),
          query('state', 'Comes back unchanged', false),
          query('scope', '`openid`, `profile`, `email`', false),
          query('resource', 'The address of the MCP server', false),
        ],
        responses: {
          '302': { description: 'Leads to the page where the customer signs in' },
          ...refused(400),
        },
      },
    },
    '/v1/customer/auth/token': {
      post: {
        tags,
        security: [],
        requestBody: bodyOf(form, tokenRequestSchema),
        responses: { '200': answer('Tokens', tokensSchema), ...refused(400, 401) },
      },
    },
    '/v1/customer/auth/revoke': {
      post: {
        tags,
        security: [],
        requestBody: bodyOf(form, revocationSchema),
        responses: { '200': answer('Revoked', revokedSchema), ...refused(400, 401) },
      },
    },
    '/v1/customer/auth/userinfo': {
      get: {
        tags,
        security: [{ customerToken: [] }],
        responses: { '200': answer('The customer', signedInCustomerSchema), ...refused(401) },
      },
    },
  }
}

function query(name: string, description: string, required = true): object {
  return { name, in: 'query', required, description, schema: { type: 'string' } }
}

function bodyOf(type: string, schema: z.ZodType): object {
  return { required: true, content: { [type]: { schema: describedSchema(schema, 'input') } } }
}

function answer(description: string, schema: z.ZodType): object {
  return {
    description,
    content: { 'application/json': { schema: describedSchema(schema, 'output') } },
  }
}

function refused(...statuses: readonly number[]): Record<string, object> {
  const json = { schema: describedSchema(oauthErrorSchema, 'output') }
  const content = { 'application/json': { ...json, ...examplesIn(oauthErrorExamples) } }
  const description = 'Refused; `error` says why, in a word of OAuth'
  return Object.fromEntries(statuses.map((status) => [String(status), { description, content }]))
}
