import { z } from 'zod'
import type { ValidationIssue } from './errors.ts'
import { reservationSecondsMax, reservationsPerRequestMax } from '../limits.ts'
import { optionalReference, requiredReference } from './fields.ts'
import { limitsResponseSchema, reserveSchema, type LimitsRequest } from './limits.ts'

/* Schemas of `/v1/sdk/limits/release`, `/extend` and `/reservations`. */

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

export const extendRequestSchema = z.object({
  reservationId: requiredReference,
  /** Seconds from now until the reservation expires. A later expiry that it already has stays. */
  ttlSeconds: z.int().min(1).max(reservationSecondsMax),
})

export const extendResponseSchema = z.object({
  success: z.literal(true),
  /** Time of the expiry in ISO 8601. */
  expiresAt: z.string(),
})

export const reservationsRequestSchema = z.object({
  customerRef: requiredReference,
  productRef: requiredReference,
  /** Holds nothing unless every reservation can be made. */
  allOrNothing: z.boolean().default(false),
  reservations: z
    .array(
      z.object({
        /** The meter of `units`. */
        meterName: optionalReference.optional(),
        reserve: reserveSchema,
        /** Names the reservation, so that a repeated request returns the first one. */
        idempotencyKey: optionalReference.optional(),
      }),
    )
    .min(1)
    .max(reservationsPerRequestMax),
})

export type ReservationsRequest = z.infer<typeof reservationsRequestSchema>

/**
 * `held`, `refused` by a limit, `not_held` because another one was refused and `allOrNothing` is set, or `full` because the customer
 * has too many reservations.
 */
export const batchStatuses = ['held', 'refused', 'not_held', 'full'] as const

export const reservationsResponseSchema = z.object({
  success: z.literal(true),
  /** Number of reservations that are held. */
  held: z.int(),
  /** In the order of the request. */
  results: z.array(
    z.object({
      status: z.enum(batchStatuses),
      /** The response of a limit check with `reserve`. Present for `held` and `refused`. */
      limits: limitsResponseSchema.optional(),
    }),
  ),
})

export type ReservationsResponse = z.infer<typeof reservationsResponseSchema>

/** Returns the validation issue of a reservation that is longer than the service allows, otherwise undefined. */
export function faultOfTtl(
  reserve: Pick<NonNullable<LimitsRequest['reserve']>, 'ttlSeconds'> | undefined,
  secondsMax: number,
  path: readonly (string | number)[] = ['reserve'],
): ValidationIssue | undefined {
  if (reserve === undefined || reserve.ttlSeconds <= secondsMax) return undefined
  const message = `A reservation can be held for ${secondsMax} seconds at most`
  return { code: 'too_big', path: [...path, 'ttlSeconds'], message }
}
