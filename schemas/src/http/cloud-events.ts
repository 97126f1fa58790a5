import { z } from 'zod'
import { isStorableText } from '../json-object.ts'
import { bulkRecordsMax, nameCharsMax, urlCharsMax } from '../limits.ts'
import { outcomes } from '../meter-event.ts'
import { instantText, jsonObject, optionalReference, requiredReference } from './fields.ts'
import { creditDebitSchema } from './usages.ts'

/*
 * Schemas of `POST /v1/events` and `/v1/events/batch`: CloudEvents 1.0 in structured and batched JSON. Further extension attributes
 * are allowed by the standard. They are dropped.
 */

function attribute(charsMax: number) {
  return z.string().min(1).max(charsMax).refine(isStorableText, {
    error: 'Text must be well-formed Unicode without U+0000',
  })
}

/** `application/json`, or a type that is JSON by its suffix, with or without parameters. */
export const jsonContentType = /^application\/(?:[a-z0-9.+-]+\+)?json(?:\s*;.*)?$/i

const attributes = z.looseObject({
  specversion: z.literal('1.0'),
  /** With `source`, the idempotency key. */
  id: attribute(nameCharsMax),
  source: attribute(urlCharsMax),
  /** Selects the meters that read the event. */
  type: requiredReference,
  /** Reference of the customer. */
  subject: requiredReference,
  time: instantText.optional(),
  datacontenttype: z.string().regex(jsonContentType, { error: 'Only JSON is accepted' }).optional(),
  /** Properties that meters read. */
  data: jsonObject.optional(),
  productref: optionalReference.optional(),
  purchaseref: optionalReference.optional(),
  /** The reservation of the usage. It ends with this event, whatever the outcome. */
  reservationid: optionalReference.optional(),
  /** False if more events will use the reservation: it then keeps what this event leaves of it. */
  reservationfinal: z.boolean().optional(),
  outcome: z.enum(outcomes).default('success'),
})

export const cloudEventSchema = attributes.refine((event) => !Object.hasOwn(event, 'data_base64'), {
  path: ['data_base64'],
  error: 'Send the properties in `data`, as a JSON object',
})

export type CloudEventInput = z.infer<typeof cloudEventSchema>

export const cloudEventsSchema = z.array(cloudEventSchema).min(1).max(bulkRecordsMax)

export type CloudEventsInput = z.infer<typeof cloudEventsSchema>

const eventResult = {
  reference: z.string(),
  /** What the event counts, by meter. Empty if no meter counts it, for a duplicate, and without success. */
  counts: z.array(z.object({ meterName: z.string(), value: z.number() })),
  creditDebit: creditDebitSchema.optional(),
}

export const cloudEventResponseSchema = z.object({ success: z.literal(true), ...eventResult })

export const cloudEventsResponseSchema = z.object({
  success: z.literal(true),
  inserted: z.int(),
  /** In the order of the request. */
  results: z.array(z.object(eventResult)),
})
