import { z } from 'zod'
import { bulkRecordsMax } from '../limits.ts'
import { bulkFields, requireOneList } from './bulk.ts'
import {
  instantText,
  jsonObject,
  optionalReference,
  quantity,
  requiredReference,
} from './fields.ts'

/* Schemas of `POST /v1/sdk/meter-events` and `/v1/sdk/meter-events/bulk`. */

/** The built-in meter of every provider: `/usages` records it, and plans are limited by it. */
export const requestsMeterName = 'requests'

export const meterEventSchema = z.object({
  customerRef: requiredReference,
  meterName: requiredReference.default(requestsMeterName),
  value: quantity.default(1),
  productRef: optionalReference.optional(),
  properties: jsonObject.optional(),
  timestamp: instantText.optional(),
  /** The reservation of the value. It ends with this event. */
  reservationId: optionalReference.optional(),
  /** False if more events will use the reservation: it then keeps what this event leaves of it. */
  reservationFinal: z.boolean().optional(),
  /** Records the event only once. Keys belong to a customer and are shared with usages. */
  idempotencyKey: optionalReference.optional(),
})

export type MeterEventInput = z.infer<typeof meterEventSchema>

export const meterEventsBulkSchema = z
  .object(bulkFields(z.array(meterEventSchema).min(1).max(bulkRecordsMax)))
  .superRefine(requireOneList('records'))

export type MeterEventsBulkInput = z.infer<typeof meterEventsBulkSchema>

export const meterEventResponseSchema = z.object({ success: z.literal(true) })

export type MeterEventResponse = z.infer<typeof meterEventResponseSchema>

export const meterEventsBulkResponseSchema = z.object({
  success: z.literal(true),
  inserted: z.int(),
})

export type MeterEventsBulkResponse = z.infer<typeof meterEventsBulkResponseSchema>
