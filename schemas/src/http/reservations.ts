import { z } from 'zod'
import type { ValidationIssue } from './errors.ts'
import { requiredReference } from './fields.ts'
import type { LimitsRequest } from './limits.ts'

/* Schemas of `POST /v1/sdk/limits/release`, which releases a reservation that will not be used. */

export const releaseRequestSchema = z.object({
  reservationId: requiredReference,
})

export type ReleaseRequest = z.infer<typeof releaseRequestSchema>

export const releaseResponseSchema = z.object({
  success: z.literal(true),
  /** False if it was already used, released or expired, or never existed. */
  released: z.boolean(),
})

export type ReleaseResponse = z.infer<typeof releaseResponseSchema>

/** Returns the validation issue of a reservation that is longer than the service allows, otherwise undefined. */
export function faultOfTtl(
  reserve: LimitsRequest['reserve'],
  secondsMax: number,
): ValidationIssue | undefined {
  if (reserve === undefined || reserve.ttlSeconds <= secondsMax) return undefined
  const message = `A reservation can be held for ${secondsMax} seconds at most`
  return { code: 'too_big', path: ['reserve', 'ttlSeconds'], message }
}
