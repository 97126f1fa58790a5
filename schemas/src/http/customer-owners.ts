import { z } from 'zod'
import { environments } from '../environment.ts'
import { requiredReference } from './fields.ts'

/**
 * Path with which ingest reads the owners of customers that messages of the bus name. It is not part of the contract with clients.
 */
export const customerOwnersPath = '/internal/customer-owners'

export const ownersReferencesMax = 1_000

export const customerOwnersSchema = z.object({
  references: z.array(requiredReference).min(1).max(ownersReferencesMax),
  /**
   * Limits the search to customers of this provider, by any of their references. Without it, customers of all providers are found
   * by their own reference.
   */
  providerId: z.string().min(1).optional(),
})

export type CustomerOwnersInput = z.infer<typeof customerOwnersSchema>

/** For each reference, in input order, the owners of all active customers that it names. */
export const customerOwnersResponseSchema = z.object({
  owners: z.array(z.array(z.object({ providerId: z.string(), environment: z.enum(environments) }))),
})

export type CustomerOwnersResponse = z.infer<typeof customerOwnersResponseSchema>
