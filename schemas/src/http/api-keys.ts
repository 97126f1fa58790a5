import { z } from 'zod'
import { environments } from '../environment.ts'
import { keyScopes } from '../key-scopes.ts'
import { shortText, storedInstantText } from './fields.ts'

/* Schemas of `/v1/ui/api-keys`. */

export const apiKeyCreateSchema = z.object({
  name: shortText.optional(),
  /** Default: all scopes of the calling key. */
  scopes: z.array(z.enum(keyScopes)).min(1).max(keyScopes.length).optional(),
  /** The key is refused after this time. */
  expiresAt: storedInstantText.optional(),
  /** Requests with an unknown field or parameter are refused. Otherwise they are answered with a warning. */
  strict: z.boolean().optional(),
})

/** One week is enough for every rotation. Create a second key for a longer overlap. */
export const overlapHoursMax = 168

export const apiKeyRotateSchema = z.object({
  /** Hours that the key stays valid beside its successor. */
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

/** The secret is returned only here. */
export const issuedApiKeySchema = apiKeySchema.extend({ secretKey: z.string() })

export const apiKeysResponseSchema = z.object({ apiKeys: z.array(apiKeySchema) })
