import { z } from 'zod'
import { environments } from '../environment.ts'
import { keyScopes } from '../key-scopes.ts'
import { shortText, storedInstantText } from './fields.ts'

/* `/v1/ui/api-keys`. */

export const apiKeyCreateSchema = z.object({
  name: shortText.optional(),
  /** Without it: everything that the calling key may do. */
  scopes: z.array(z.enum(keyScopes)).min(1).max(keyScopes.length).optional(),
  /** After that instant the key is refused. */
  expiresAt: storedInstantText.optional(),
  /** Requests with an unknown field or parameter are refused. Without it, they are answered with a warning. */
  strict: z.boolean().optional(),
})

/** A week covers every rotation; who needs longer keeps two keys. */
export const overlapHoursMax = 168

export const apiKeyRotateSchema = z.object({
  /** How long the key goes on working beside its successor. */
  overlapHours: z.number().min(0).max(overlapHoursMax).default(24),
})

export const apiKeySchema = z.object({
  keyId: z.string(),
  environment: z.enum(environments),
  name: z.string().optional(),
  scopes: z.array(z.enum(keyScopes)),
  last4: z.string(),
  status: z.enum(['active', 'expired', 'revoked']),
  strict: z.boolean(),
  createdAt: z.string(),
  expiresAt: z.string().optional(),
  revokedAt: z.string().optional(),
})

export type ApiKeyBody = z.infer<typeof apiKeySchema>

/** The only time that the secret is told. */
export const issuedApiKeySchema = apiKeySchema.extend({ secretKey: z.string() })

export const apiKeysResponseSchema = z.object({ apiKeys: z.array(apiKeySchema) })
