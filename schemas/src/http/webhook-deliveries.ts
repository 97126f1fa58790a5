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
    /** Made at that time or later. */
    from: storedInstantText.optional(),
    /** Made before that time. */
    to: storedInstantText.optional(),
    /** The id of a delivery: those that are older. */
    before: optionalReference.optional(),
  })
  .refine(isSpan, notASpan)

export const webhookAttemptSummarySchema = z.object({
  /** 1 to 12, as the receiver was told it. */
  number: z.int(),
  /** A second try at once, with the signatures in the other order. */
  isReversed: z.boolean(),
  startedAt: z.string(),
  durationMs: z.int(),
  /** Until the connection stood; missing where none was made. */
  connectMs: z.int().optional(),
  /** Until the head of the answer. */
  answerMs: z.int().optional(),
  /** Of the answer, where there was one. */
  status: z.int().optional(),
  /** Why there was none, or not to its end: `refused`, `unresolved`, `unreachable`, `tls`, `timeout`, `cut-off`, `too-large` or `malformed`. */
  error: z.string().optional(),
  /** What it was sent to. */
  address: z.string().optional(),
})

const deliverySummarySchema = z.object({
  /** As receivers know it: the same for all attempts. */
  id: z.string(),
  endpointId: z.string(),
  eventId: z.string(),
  type: z.string(),
  /** `pending`: sent when it is due. `held`: its endpoint is disabled. `failed`: given up. `skipped`: its endpoint was deleted, or enabled without it. */
  state: z.enum(deliveryStates),
  /** When it is sent, where it is pending. */
  dueAt: z.string().optional(),
  /** By which replay it was made. */
  replayId: z.string().optional(),
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
  /** The first 4 KiB of what it answered, or why it did not. */
  answer: z.string().optional(),
})

export const webhookDeliverySchema = deliverySummarySchema.extend({
  attempts: z.array(attemptSchema),
})

export type WebhookDeliveryBody = z.infer<typeof webhookDeliverySchema>
export type WebhookAttemptBody = z.infer<typeof attemptSchema>

export const webhookReplayCreateSchema = z
  .object({
    endpointId: requiredReference,
    /** Deliveries that were made at that time or later. Missing: with `onlyFailed` alone, all there are. */
    from: storedInstantText.optional(),
    /** And before that time. Missing: until now. */
    to: storedInstantText.optional(),
    /** Only those that were given up, and whose event was not sent there otherwise since. */
    onlyFailed: z.boolean().default(false),
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
  /** Of this delivery alone. */
  deliveryId: z.string().optional(),
  onlyFailed: z.boolean(),
  from: z.string().optional(),
  to: z.string(),
  /** `stopped`: the endpoint was deleted. */
  state: z.enum(['running', 'finished', 'cancelled', 'stopped']),
  /** How many deliveries it has made so far. */
  queued: z.int(),
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
