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
    status: z
      .enum(['enabled', 'disabled'])
      .optional()
      .describe('`enabled` sends what was held while it was disabled, and forgets what failed'),
    skipHeldBefore: storedInstantText
      .optional()
      .describe('With `status` `enabled`: what was held since before that time is never sent'),
  })
  .refine(({ status, skipHeldBefore }) => skipHeldBefore === undefined || status === 'enabled', {
    error: 'Goes with the status enabled alone',
    path: ['skipHeldBefore'],
  })

/** A week covers every rotation. */
export const secretOverlapHoursMax = 168

export const webhookSecretRotateSchema = z.object({
  overlapHours: z
    .number()
    .min(0)
    .max(secretOverlapHoursMax)
    .default(24)
    .describe(
      'How long the secrets that are there go on signing beside the new one; 0 ends them at once',
    ),
})

const signingSecretSchema = z.object({
  id: z.string(),
  createdAt: z.string(),
  expiresAt: z.string().optional().describe('Signs no longer from then on; missing: does not end'),
})

export const webhookEndpointSchema = z.object({
  id: z.string(),
  url: z.string(),
  sendsLinks: z
    .boolean()
    .describe(
      'Whether events of checkout and portal sessions carry their links. False: the address was set with a key without the scope `manage`',
    ),
  enabledEvents: z.array(z.string()),
  status: z.enum(['enabled', 'disabled']),
  disabledReason: z
    .enum(['attempts', 'gone', 'provider'])
    .optional()
    .describe(
      '`attempts`: a delivery was given up, and nothing else succeeded meanwhile. `gone`: it answered 410. `provider`: its owner did',
    ),
  disabledAt: z.string().optional(),
  failureCount: z.int().describe('Attempts that failed since the last that succeeded'),
  failingSince: z.string().optional().describe('When the first of them began'),
  livemode: z.boolean(),
  signingSecrets: z
    .array(signingSecretSchema)
    .describe('Those that sign, in the order of their signatures in the header'),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export type WebhookEndpointBody = z.infer<typeof webhookEndpointSchema>

export const shownAttemptsMax = 20

export const webhookEndpointWithAttemptsSchema = webhookEndpointSchema.extend({
  lastAttempts: z
    .array(webhookAttemptSummarySchema.extend({ deliveryId: z.string() }))
    .describe('What came of the last 20 attempts, newest first: of its newest deliveries'),
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
  success: z.boolean().describe('It was answered with a status from 200 to 299'),
  eventId: z.string(),
  status: z.int().optional().describe('Of the answer, where there was one'),
  error: z.string().optional().describe('Why there was none'),
  durationMs: z.int(),
})

export type WebhookTestedBody = z.infer<typeof webhookTestedSchema>
