import { z } from 'zod'
import { eventTypes } from '../event-types.ts'
import { storedInstantText, urlText } from './fields.ts'
import { webhookAttemptSummarySchema } from './webhook-deliveries.ts'

/* Schemas of `/v1/webhook_endpoints` and of a test of an endpoint. */

const url = urlText.meta({ description: 'Public https address that events are sent to' })

const enabledEvents = z
  .array(z.enum(eventTypes))
  .max(eventTypes.length)
  .meta({ description: 'Event types to send. Empty: all, including types that are added later' })

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
      .describe(
        '`enabled` sends the deliveries that were held while it was disabled, and resets the count of failures',
      ),
    skipHeldBefore: storedInstantText
      .optional()
      .describe('With `status` `enabled`: deliveries held since before this time are never sent'),
  })
  .refine(({ status, skipHeldBefore }) => skipHeldBefore === undefined || status === 'enabled', {
    error: 'Goes with the status enabled alone',
    path: ['skipHeldBefore'],
  })

/** One week is enough for every rotation. */
export const secretOverlapHoursMax = 168

export const webhookSecretRotateSchema = z.object({
  overlapHours: z
    .number()
    .min(0)
    .max(secretOverlapHoursMax)
    .default(24)
    .describe(
      'Hours that the existing secrets keep signing beside the new one. 0 ends them immediately',
    ),
})

const signingSecretSchema = z.object({
  id: z.string(),
  createdAt: z.string(),
  expiresAt: z
    .string()
    .optional()
    .describe('The secret no longer signs after this time. Missing if it does not expire'),
})

export const webhookEndpointSchema = z.object({
  id: z.string(),
  url: z.string(),
  sendsLinks: z
    .boolean()
    .describe(
      'Whether events of checkout and portal sessions contain their links. False: the address was set with a key without the scope `manage`',
    ),
  enabledEvents: z.array(z.string()),
  status: z.enum(['enabled', 'disabled']),
  disabledReason: z
    .enum(['attempts', 'gone', 'provider'])
    .optional()
    .describe(
      '`attempts`: all attempts of a delivery failed, and no other delivery succeeded meanwhile. `gone`: the endpoint answered 410. `provider`: the provider disabled it',
    ),
  disabledAt: z.string().optional(),
  failureCount: z.int().describe('Failed attempts since the last successful one'),
  failingSince: z.string().optional().describe('Start of the first of these failed attempts'),
  livemode: z.boolean(),
  signingSecrets: z
    .array(signingSecretSchema)
    .describe('Active secrets, in the order of their signatures in the header'),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export type WebhookEndpointBody = z.infer<typeof webhookEndpointSchema>

export const shownAttemptsMax = 20

export const webhookEndpointWithAttemptsSchema = webhookEndpointSchema.extend({
  lastAttempts: z
    .array(webhookAttemptSummarySchema.extend({ deliveryId: z.string() }))
    .describe('Results of the last 20 attempts of its newest deliveries, newest first'),
})

export type WebhookEndpointWithAttemptsBody = z.infer<typeof webhookEndpointWithAttemptsSchema>

/** The secret is returned only here. */
export const webhookEndpointWithSecretSchema = webhookEndpointSchema.extend({ secret: z.string() })

export type WebhookEndpointWithSecretBody = z.infer<typeof webhookEndpointWithSecretSchema>

export const webhookEndpointsResponseSchema = z.object({
  webhookEndpoints: z.array(webhookEndpointSchema),
})

export const webhookEndpointDeletedSchema = z.object({ success: z.literal(true) })

export const webhookTestedSchema = z.object({
  success: z.boolean().describe('True if the endpoint answered with a status from 200 to 299'),
  eventId: z.string(),
  status: z.int().optional().describe('Status of the response. Missing if there was none'),
  error: z.string().optional().describe('Why there was no response'),
  durationMs: z.int(),
})

export type WebhookTestedBody = z.infer<typeof webhookTestedSchema>
