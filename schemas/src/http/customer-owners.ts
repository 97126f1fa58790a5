import { z } from 'zod'
import { environments } from '../environment.ts'
import { requiredReference } from './fields.ts'

/** Asked by ingest for customers that are named on the message bus. Part of no client's contract. */
export const customerOwnersPath = '/internal/customer-owners'

export const askedOwnersMax = 1_000

export const customerOwnersSchema = z.object({
  references: z.array(requiredReference).min(1).max(askedOwnersMax),
  /** Only customers of this provider, by any of their references. Without it: of all providers, by their own reference. */
  providerId: z.string().min(1).optional(),
})

export type CustomerOwnersInput = z.infer<typeof customerOwnersSchema>

/** Of each reference, in input order, every active customer that it names. */
export const customerOwnersResponseSchema = z.object({
  owners: z.array(z.array(z.object({ providerId: z.string(), environment: z.enum(environments) }))),
})

export type CustomerOwnersResponse = z.infer<typeof customerOwnersResponseSchema>
