import { z } from 'zod'
import { eventTypes } from '../event-types.ts'
import { storedInstantText, urlText } from './fields.ts'
import { webhookAttemptSummarySchema } from './webhook-deliveries.ts'

/* `/v1/webhook_endpoints`, and a test of one. */

const url = urlText.meta({ description: 'Where events are sent: an https address that is public' })

const enabledEvents = z
  .array(z.enum(eventTypes))
  .max(eventTypes.length)
  .meta({ description: 'Types that are sent; none: all, also those that are added later' })

export const webhookEndpointCreateSchema = z.object({
  url,
  enabledEvents: enabledEvents.optional(),
})

export const webhookEndpointUpdateSchema = z
  .object({
    url: url.optional(),
    enabledEvents: enabledEvents.optional(),
    /** `enabled` sends what was held while it was disabled, and forgets what failed. */
    status: z.enum(['enabled', 'disabled']).optional(),
    /** With `status` `enabled`: what was held since before that time is never sent. */
    skipHeldBefore: storedInstantText.optional(),
  })
  .refine(({ status, skipHeldBefore }) => skipHeldBefore === undefined || status === 'enabled', {
    error: 'Goes with the status enabled alone',
    path: ['skipHeldBefore'],
  })

/** A week covers every rotation. */
export const secretOverlapHoursMax = 168

export const webhookSecretRotateSchema = z.object({
  /** How long the secrets that are there go on signing beside the new one; 0 ends them at once. */
  overlapHours: z.number().min(0).max(secretOverlapHoursMax).default(24),
})

const signingSecretSchema = z.object({
  id: z.string(),
  createdAt: z.string(),
  /** Signs no longer from then on; missing: does not end. */
  expiresAt: z.string().optional(),
})

export const webhookEndpointSchema = z.object({
  id: z.string(),
  url: z.string(),
  enabledEvents: z.array(z.string()),
  status: z.enum(['enabled', 'disabled']),
  /** `attempts`: a delivery was given up, and nothing else succeeded meanwhile. `gone`: it answered 410. `provider`: its owner did. */
  disabledReason: z.enum(['attempts', 'gone', 'provider']).optional(),
  disabledAt: z.string().optional(),
  /** Attempts that failed since the last that succeeded. */
  failureCount: z.int(),
  /** When the first of them began. */
  failingSince: z.string().optional(),
  livemode: z.boolean(),
  /** Those that sign, in the order of their signatures in the header. */
  signingSecrets: z.array(signingSecretSchema),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export type WebhookEndpointBody = z.infer<typeof webhookEndpointSchema>

export const shownAttemptsMax = 20

export const webhookEndpointWithAttemptsSchema = webhookEndpointSchema.extend({
  /** What came of the last 20 attempts, newest first: of its newest deliveries. */
  lastAttempts: z.array(webhookAttemptSummarySchema.extend({ deliveryId: z.string() })),
})

export type WebhookEndpointWithAttemptsBody = z.infer<typeof webhookEndpointWithAttemptsSchema>

/** The only time that the secret is told. */
export const webhookEndpointWithSecretSchema = webhookEndpointSchema.extend({ secret: z.string() })

export type WebhookEndpointWithSecretBody = z.infer<typeof webhookEndpointWithSecretSchema>

export const webhookEndpointsResponseSchema = z.object({
  webhookEndpoints: z.array(webhookEndpointSchema),
})

export const webhookEndpointDeletedSchema = z.object({ success: z.literal(true) })

export const webhookTestedSchema = z.object({
  /** It was answered with a status from 200 to 299. */
  success: z.boolean(),
  eventId: z.string(),
  /** Of the answer, where there was one. */
  status: z.int().optional(),
  /** Why there was none. */
  error: z.string().optional(),
  durationMs: z.int(),
})

export type WebhookTestedBody = z.infer<typeof webhookTestedSchema>
