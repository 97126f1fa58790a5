import { z } from 'zod'
import type { ValidationIssue } from './errors.ts'
import { requiredReference } from './fields.ts'
import type { LimitsRequest } from './limits.ts'

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

/** What is wrong with the time to hold a reservation, given what the service allows; undefined: nothing. */
export function faultOfTtl(
  reserve: LimitsRequest['reserve'],
  secondsMax: number,
): ValidationIssue | undefined {
  if (reserve === undefined || reserve.ttlSeconds <= secondsMax) return undefined
  const message = `A reservation can be held for ${secondsMax} seconds at most`
  return { code: 'too_big', path: ['reserve', 'ttlSeconds'], message }
}
