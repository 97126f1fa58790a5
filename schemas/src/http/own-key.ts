import { z } from 'zod'
import { keyScopes } from '../key-scopes.ts'
import { environments } from '../environment.ts'

/**
 * Path at which the control plane describes the calling key to its holder. The data plane uses it while the hot state cannot
 * answer.
 */
export const ownKeyPath = '/v1/sdk/key'

/**
 * Path at which the control plane returns the meters of the key's provider, in their published form. The data plane uses it if the
 * hot state cannot answer and the meters were never read.
 */
export const ownMetersPath = '/v1/sdk/key/meters'

export const ownKeySchema = z.object({
  keyId: z.string(),
  providerId: z.string(),
  environment: z.enum(environments),
  /** Unix milliseconds, or null if the key does not expire. */
  expiresAtMs: z.int().nullable(),
  scopes: z.array(z.enum(keyScopes)).optional(),
  /** The key is a live key, and its provider is not live yet. */
  isMisplaced: z.boolean().optional(),
  isStrict: z.boolean().optional(),
})

export type OwnKeyBody = z.infer<typeof ownKeySchema>
