import { z } from 'zod'
import { eventTypes } from '../event-types.ts'
import {
  isTimeRange,
  invalidTimeRange,
  optionalReference,
  pageQuery,
  requiredReference,
  storedInstantText,
} from './fields.ts'

/*
 * Schemas of deliveries to webhook endpoints, their attempts and replays: `/v1/ui/webhook-deliveries` and `/v1/ui/webhook-replays`.
 */

export const deliveryStates = ['pending', 'held', 'succeeded', 'failed', 'skipped'] as const

export const webhookDeliveriesQuerySchema = z
  .object({
    limit: pageQuery.limit,
    endpointId: optionalReference.optional(),
    eventId: optionalReference.optional(),
    type: z.enum(eventTypes).optional(),
    state: z.enum(deliveryStates).optional(),
    from: storedInstantText.optional().describe('Only deliveries created at or after this time'),
    to: storedInstantText.optional().describe('Only deliveries created before this time'),
    before: optionalReference
      .optional()
      .describe('Id of a delivery. Only older deliveries are returned'),
  })
  .refine(isTimeRange, invalidTimeRange)

export const webhookAttemptSummarySchema = z.object({
  number: z.int().describe('1 to 12, as in the header that the receiver gets'),
  isReversed: z
    .boolean()
    .describe('True for an immediate second try with the signatures in reverse order'),
  startedAt: z.string(),
  durationMs: z.int().describe('Total duration in milliseconds'),
  connectMs: z
    .int()
    .optional()
    .describe('Milliseconds until the connection was open. Missing if none was opened'),
  answerMs: z.int().optional().describe('Milliseconds until the head of the response'),
  status: z.int().optional().describe('Status of the response. Missing if there was none'),
  error: z
    .string()
    .optional()
    .describe(
      'Why there was no complete response: `refused`, `unresolved`, `unreachable`, `tls`, `timeout`, `cut-off`, `too-large`, `malformed`, `unsigned`, `no-event` or `unrecorded`',
    ),
  address: z.string().optional().describe('IP address that the attempt was sent to'),
})

const deliverySummarySchema = z.object({
  id: z.string().describe('The id that receivers get, the same for all attempts'),
  endpointId: z.string(),
  eventId: z.string(),
  type: z.string(),
  state: z
    .enum(deliveryStates)
    .describe(
      '`pending`: will be sent when it is due. `held`: its endpoint is disabled. `failed`: all attempts failed. `skipped`: its endpoint was deleted, or enabled without it',
    ),
  dueAt: z.string().optional().describe('When a pending delivery will be sent'),
  replayId: z.string().optional().describe('Id of the replay that created it'),
  createdAt: z.string(),
  finishedAt: z.string().optional(),
})

export const webhookDeliverySummarySchema = deliverySummarySchema.extend({
  attempts: z.array(webhookAttemptSummarySchema),
})

export type WebhookDeliverySummaryBody = z.infer<typeof webhookDeliverySummarySchema>

/** If `hasMore` is true, repeat the request with the id of the last delivery as `before`. */
export const webhookDeliveriesResponseSchema = z.object({
  deliveries: z.array(webhookDeliverySummarySchema),
  hasMore: z.boolean(),
})

const attemptSchema = webhookAttemptSummarySchema.extend({
  answer: z
    .string()
    .optional()
    .describe('First 4 KiB of the response body, or why there was no response'),
})

export const webhookDeliverySchema = deliverySummarySchema.extend({
  attempts: z.array(attemptSchema),
})

export type WebhookDeliveryBody = z.infer<typeof webhookDeliverySchema>
export type WebhookAttemptBody = z.infer<typeof attemptSchema>

export const webhookReplayCreateSchema = z
  .object({
    endpointId: requiredReference,
    from: storedInstantText
      .optional()
      .describe(
        'Only deliveries created at or after this time. Missing: with `onlyFailed` only, all deliveries',
      ),
    to: storedInstantText
      .optional()
      .describe('Only deliveries created before this time. Missing: until now'),
    onlyFailed: z
      .boolean()
      .default(false)
      .describe(
        'Only deliveries whose attempts all failed, and whose event was not sent to the endpoint otherwise since',
      ),
  })
  .refine(({ from, onlyFailed }) => from !== undefined || onlyFailed, {
    error: 'Without onlyFailed, from is required',
    path: ['from'],
  })
  .refine(isTimeRange, invalidTimeRange)

export const webhookReplaysQuerySchema = z.object(pageQuery)

export const webhookReplaySchema = z.object({
  id: z.string(),
  endpointId: z.string(),
  deliveryId: z.string().optional().describe('Set for a replay of this delivery only'),
  onlyFailed: z.boolean(),
  from: z.string().optional(),
  to: z.string(),
  state: z
    .enum(['running', 'finished', 'cancelled', 'stopped'])
    .describe('`stopped`: the endpoint was deleted'),
  queued: z.int().describe('Number of deliveries that the replay has created so far'),
  createdAt: z.string(),
  finishedAt: z.string().optional(),
})

export type WebhookReplayBody = z.infer<typeof webhookReplaySchema>

export const webhookReplaysPageSchema = z.object({
  replays: z.array(webhookReplaySchema),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
})
