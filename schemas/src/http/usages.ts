import { z } from 'zod'
import { bulkRecordsMax, usageUnitsMax } from '../limits.ts'
import { outcomes } from '../meter-event.ts'
import { bulkFields, requireOneList } from './bulk.ts'
import {
  instantText,
  jsonObject,
  longText,
  optionalReference,
  requiredReference,
} from './fields.ts'
import { ignoring } from './known-names.ts'

/* Schemas of `POST /v1/sdk/usages` and `/v1/sdk/usages/bulk`. */

export const actionTypes = [
  'transaction',
  'api_call',
  'hour',
  'email',
  'storage',
  'custom',
] as const

export const usageSchema = ignoring(
  z.object({
    customerRef: requiredReference,
    actionType: z.enum(actionTypes).default('api_call'),
    units: z.int().min(0).max(usageUnitsMax).default(1),
    outcome: z.enum(outcomes).default('success'),
    productRef: optionalReference.optional(),
    purchaseRef: optionalReference.optional(),
    description: longText.optional(),
    errorMessage: longText.optional(),
    metadata: jsonObject.optional(),
    duration: z.number().min(0).optional(),
    timestamp: instantText.optional(),
    idempotencyKey: optionalReference.optional(),
    /** The reservation of the units. It ends with this call, whatever the outcome. */
    reservationId: optionalReference.optional(),
    /**
     * False if more calls will use the reservation: it then keeps what this call leaves of its units and credits, until they are
     * used up, it is ended, or it expires. A call without success uses nothing of it.
     */
    reservationFinal: z.boolean().optional(),
  }),
  'planRef',
)

export type UsageInput = z.infer<typeof usageSchema>

export const usagesBulkSchema = z
  .object(bulkFields(z.array(usageSchema).min(1).max(bulkRecordsMax)))
  .superRefine(requireOneList('events'))

export type UsagesBulkInput = z.infer<typeof usagesBulkSchema>

/** Why the wallet was not debited. */
export const noDebitReasons = [
  'duplicate',
  'no_product_ref',
  'customer_not_found',
  'no_active_purchase',
  'plan_not_credit_based',
  /** No charge of the plan prices what the call counts. */
  'no_charge',
] as const

export const creditDebitSchema = z.union([
  z.object({ debited: z.literal(false), reason: z.enum(noDebitReasons) }),
  z.object({
    debited: z.literal(true),
    amount: z.int(),
    unitsRemaining: z.int(),
    autoRecharge: z.object({ triggered: z.boolean() }).optional(),
    /** Credits with all their decimals, as decimal text. Only for plans with charges. */
    credits: z.string().optional(),
    /** What the wallet lacked to pay the whole cost, as decimal text. Absent if it paid everything. Only for plans with charges. */
    shortfall: z.string().optional(),
    /** What the call costs by charge, as decimal text. Less is debited if the wallet has less. Only for plans with charges. */
    charges: z
      .array(
        z.object({
          charge: z.string(),
          meterName: z.string(),
          units: z.number(),
          credits: z.string(),
        }),
      )
      .optional(),
  }),
])

export type CreditDebit = z.infer<typeof creditDebitSchema>

const usageResult = {
  reference: z.string(),
  creditDebit: creditDebitSchema.optional(),
}

export const usageResponseSchema = z.object({ success: z.literal(true), ...usageResult })

export type UsageResponse = z.infer<typeof usageResponseSchema>

export const usagesBulkResponseSchema = z.object({
  success: z.literal(true),
  inserted: z.int(),
  results: z.array(z.object(usageResult)),
})
