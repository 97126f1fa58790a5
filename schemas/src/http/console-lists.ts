import { z } from 'zod'
import { customerSchema } from './customers.ts'
import { jsonObject, optionalReference, pageQuery, shortText } from './fields.ts'
import { purchaseSchema, purchaseStatuses } from './purchases.ts'

/* Schemas of the console's lists: newest first, one page at a time. */

const page = { total: z.int(), limit: z.int(), offset: z.int() }

export const customersQuerySchema = z.object({
  ...pageQuery,
  /** Prefix of an email address, a name or a reference. */
  search: shortText.optional(),
})

export const customerSummarySchema = customerSchema.omit({ purchases: true })

export type CustomerSummaryBody = z.infer<typeof customerSummarySchema>

export const customersResponseSchema = z.object({
  customers: z.array(customerSummarySchema),
  ...page,
})

export const purchasesPageQuerySchema = z.object({
  ...pageQuery,
  status: z.enum(purchaseStatuses).optional(),
  productRef: optionalReference.optional(),
  planRef: optionalReference.optional(),
  customerRef: optionalReference.optional(),
})

export type PurchasesPageQuery = z.infer<typeof purchasesPageQuerySchema>

export const purchasesPageSchema = z.object({ purchases: z.array(purchaseSchema), ...page })

export const movementsQuerySchema = z.object(pageQuery)

export const movementSchema = z.object({
  reference: z.string(),
  kind: z.enum([
    'grant',
    'top_up',
    'usage',
    'write_off',
    'adjustment',
    'expiry',
    'take_back',
    'give_back',
  ]),
  /** Credits of the movement, negative for credits that left the wallet. Decimal text, so that no digit is lost. */
  credits: z.string(),
  reason: z.string().optional(),
  createdAt: z.string(),
})

export type MovementBody = z.infer<typeof movementSchema>

export const movementsResponseSchema = z.object({ transactions: z.array(movementSchema), ...page })

export const eventsQuerySchema = z.object({
  limit: pageQuery.limit,
  type: shortText.optional(),
  /** Id of an event. Only older events are returned. */
  before: optionalReference.optional(),
})

export const eventSummarySchema = z.object({
  id: z.string(),
  type: z.string(),
  livemode: z.boolean(),
  createdAt: z.string(),
  requestId: z.string().optional(),
  idempotencyKey: z.string().optional(),
})

export type EventSummaryBody = z.infer<typeof eventSummarySchema>

/** If `hasMore` is true, repeat the request with the id of the last event as `before`. */
export const eventsResponseSchema = z.object({
  events: z.array(eventSummarySchema),
  hasMore: z.boolean(),
})

/** `data` has the form in which webhooks deliver it. */
export const eventSchema = eventSummarySchema.extend({
  data: z.object({ object: jsonObject, previous_attributes: jsonObject.nullable() }),
})
