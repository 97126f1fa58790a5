import { z } from 'zod'
import { eventTypes } from '../event-types.ts'

/* `GET /v1/sdk/webhooks/event-types` and `/event-schema`: what webhooks tell, for those who write receivers. */

export const eventTypesResponseSchema = z.array(
  z.object({
    category: z.string(),
    label: z.string(),
    description: z.string(),
    events: z.array(
      z.object({
        type: z.string(),
        description: z.string(),
        status: z.enum(['live', 'planned']),
      }),
    ),
  }),
)

/** The type that is to be shown. */
export const eventSchemaQuerySchema = z.object({
  type: z.enum(eventTypes).default('payment.succeeded'),
})

const object = z.record(z.string(), z.unknown())

export const eventEnvelopeSchema = z.object({
  id: z.string(),
  type: z.string(),
  /** Unix seconds. */
  created: z.int(),
  api_version: z.string(),
  data: z.object({
    object,
    /** What the fields that changed were before. */
    previous_attributes: object.nullable(),
  }),
  livemode: z.boolean(),
  /** What made it happen; nulls where no request did. */
  request: z.object({ id: z.string().nullable(), idempotency_key: z.string().nullable() }),
})

export type EventEnvelope = z.infer<typeof eventEnvelopeSchema>

/** Of the envelope and all objects in it. */
export const eventApiVersion = '2025-10-01'
