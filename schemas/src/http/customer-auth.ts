import { z } from 'zod'
import { optionalReference, requiredReference } from './fields.ts'

/* Schemas of `/v1/customer/auth/*`, with which customers sign in for MCP clients. Field names are those of OAuth. */

const text = z.string()

export const clientRegistrationSchema = z.object({
  client_name: text.optional(),
  redirect_uris: z.array(text).min(1),
  grant_types: z.array(text).optional(),
  response_types: z.array(text).optional(),
  token_endpoint_auth_method: z
    .enum(['none', 'client_secret_basic', 'client_secret_post'])
    .optional(),
  scope: text.optional(),
})

export const registeredClientSchema = clientRegistrationSchema.extend({
  client_id: text,
  client_secret: text.optional(),
  client_id_issued_at: z.int(),
})

export const tokenRequestSchema = z.object({
  grant_type: z.enum(['authorization_code', 'refresh_token', 'client_credentials']),
  code: text.optional(),
  code_verifier: text.optional(),
  redirect_uri: text.optional(),
  refresh_token: text.optional(),
  client_id: text.optional(),
  client_secret: text.optional(),
  resource: text.optional(),
  scope: text.optional(),
})

export const tokensSchema = z.object({
  access_token: text,
  token_type: z.literal('Bearer'),
  expires_in: z.int(),
  refresh_token: text.optional(),
  scope: text.optional(),
})

export const revocationSchema = z.object({
  token: text,
  token_type_hint: text.optional(),
  client_id: text.optional(),
  client_secret: text.optional(),
})

export const revokedSchema = z.object({ revoked: z.literal(true), message: text })

export const signedInCustomerSchema = z.object({
  sub: text,
  customerRef: text,
  email: text.optional(),
  name: text.optional(),
})

export const oauthErrorSchema = z.object({ error: text, error_description: text.optional() })

export const customerLinkCreateSchema = z.object({
  customerRef: requiredReference,
  productRef: requiredReference,
  purpose: z.enum(['checkout', 'topup', 'portal']),
  /** Plan of a checkout. Without it the customer chooses one. */
  planRef: optionalReference.optional(),
})

export const customerLinkSchema = z.object({ url: text, expiresAt: text })

export const agentClientCreateSchema = z.object({
  customerRef: requiredReference,
  productRef: requiredReference,
  name: z.string().min(1).max(200).optional(),
})

/** The secret is returned only once. */
export const agentClientSchema = z.object({
  clientId: text,
  clientSecret: text,
  customerRef: text,
  tokenUrl: text,
  resource: text,
})
