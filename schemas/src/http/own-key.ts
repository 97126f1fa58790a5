import { z } from 'zod'
import { keyScopes } from '../key-scopes.ts'
import { environments } from '../environment.ts'

/** What the control plane tells the holder of a key about it: for the data plane, while hot state does not say. */
export const ownKeyPath = '/v1/sdk/key'

export const ownKeySchema = z.object({
  keyId: z.string(),
  providerId: z.string(),
  environment: z.enum(environments),
  /** Unix milliseconds; null: it does not expire. */
  expiresAtMs: z.int().nullable(),
  scopes: z.array(z.enum(keyScopes)).optional(),
  /** The key is a live one, and its provider is not live yet. */
  isMisplaced: z.boolean().optional(),
  isStrict: z.boolean().optional(),
})

export type OwnKeyBody = z.infer<typeof ownKeySchema>
