import { z } from 'zod'
import { eventTypes } from '../event-types.ts'

/* Schemas of `GET /v1/sdk/webhooks/event-types` and `/event-schema`, for authors of webhook receivers. */

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

/** The event type to return. */
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
    /** Previous values of the changed fields. */
    previous_attributes: object.nullable(),
  }),
  livemode: z.boolean(),
  /** The request that caused the event. Both fields are null if no request did. */
  request: z.object({ id: z.string().nullable(), idempotency_key: z.string().nullable() }),
})

export type EventEnvelope = z.infer<typeof eventEnvelopeSchema>

/** Version of the envelope and of all objects in it. */
export const eventApiVersion = '2025-10-01'
