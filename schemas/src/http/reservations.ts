import { z } from 'zod'
import { requiredReference } from './fields.ts'

/* `POST /v1/sdk/limits/release`: gives back what a limit check reserved and nobody will use. */

export const releaseRequestSchema = z.object({
  reservationId: requiredReference,
})

export type ReleaseRequest = z.infer<typeof releaseRequestSchema>

export const releaseResponseSchema = z.object({
  success: z.literal(true),
  /** false: it was used, released or expired before, or never made. */
  released: z.boolean(),
})

export type ReleaseResponse = z.infer<typeof releaseResponseSchema>
