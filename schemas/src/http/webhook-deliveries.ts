import { z } from 'zod'
import { eventTypes } from '../event-types.ts'
import {
  isSpan,
  notASpan,
  optionalReference,
  pageQuery,
  requiredReference,
  storedInstantText,
} from './fields.ts'

/* What was sent to webhook endpoints, what came of it, and sending it anew: `/v1/ui/webhook-deliveries` and `/v1/ui/webhook-replays`. */

export const deliveryStates = ['pending', 'held', 'succeeded', 'failed', 'skipped'] as const

export const webhookDeliveriesQuerySchema = z
  .object({
    limit: pageQuery.limit,
    endpointId: optionalReference.optional(),
    eventId: optionalReference.optional(),
    type: z.enum(eventTypes).optional(),
    state: z.enum(deliveryStates).optional(),
    from: storedInstantText.optional().describe('Made at that time or later'),
    to: storedInstantText.optional().describe('Made before that time'),
    before: optionalReference.optional().describe('The id of a delivery: those that are older'),
  })
  .refine(isSpan, notASpan)

export const webhookAttemptSummarySchema = z.object({
  number: z.int().describe('1 to 12, as the receiver was told it'),
  isReversed: z.boolean().describe('A second try at once, with the signatures in the other order'),
  startedAt: z.string(),
  durationMs: z.int().describe('Milliseconds for all of it'),
  connectMs: z
    .int()
    .optional()
    .describe('Milliseconds until the connection stood; missing where none was made'),
  answerMs: z.int().optional().describe('Milliseconds until the head of the answer'),
  status: z.int().optional().describe('Of the answer, where there was one'),
  error: z
    .string()
    .optional()
    .describe(
      'Why there was none, or not to its end: `refused`, `unresolved`, `unreachable`, `tls`, `timeout`, `cut-off`, `too-large`, `malformed`, `unsigned`, `no-event` or `unrecorded`',
    ),
  address: z.string().optional().describe('The address of the machine that it was sent to'),
})

const deliverySummarySchema = z.object({
  id: z.string().describe('As receivers know it: the same for all attempts'),
  endpointId: z.string(),
  eventId: z.string(),
  type: z.string(),
  state: z
    .enum(deliveryStates)
    .describe(
      '`pending`: sent when it is due. `held`: its endpoint is disabled. `failed`: given up. `skipped`: its endpoint was deleted, or enabled without it',
    ),
  dueAt: z.string().optional().describe('When it is sent, where it is pending'),
  replayId: z.string().optional().describe('By which replay it was made'),
  createdAt: z.string(),
  finishedAt: z.string().optional(),
})

export const webhookDeliverySummarySchema = deliverySummarySchema.extend({
  attempts: z.array(webhookAttemptSummarySchema),
})

export type WebhookDeliverySummaryBody = z.infer<typeof webhookDeliverySummarySchema>

/** `hasMore`: ask again with the id of the last one as `before`. */
export const webhookDeliveriesResponseSchema = z.object({
  deliveries: z.array(webhookDeliverySummarySchema),
  hasMore: z.boolean(),
})

const attemptSchema = webhookAttemptSummarySchema.extend({
  answer: z.string().optional().describe('The first 4 KiB of what it answered, or why it did not'),
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
        'Deliveries that were made at that time or later. Missing: with `onlyFailed` alone, all there are',
      ),
    to: storedInstantText.optional().describe('And before that time. Missing: until now'),
    onlyFailed: z
      .boolean()
      .default(false)
      .describe(
        'Only those that were given up, and whose event was not sent there otherwise since',
      ),
  })
  .refine(({ from, onlyFailed }) => from !== undefined || onlyFailed, {
    error: 'Without onlyFailed, from is required',
    path: ['from'],
  })
  .refine(isSpan, notASpan)

export const webhookReplaysQuerySchema = z.object(pageQuery)

export const webhookReplaySchema = z.object({
  id: z.string(),
  endpointId: z.string(),
  deliveryId: z.string().optional().describe('Of this delivery alone'),
  onlyFailed: z.boolean(),
  from: z.string().optional(),
  to: z.string(),
  state: z
    .enum(['running', 'finished', 'cancelled', 'stopped'])
    .describe('`stopped`: the endpoint was deleted'),
  queued: z.int().describe('How many deliveries it has made so far'),
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
