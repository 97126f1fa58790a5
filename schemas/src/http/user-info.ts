import { z } from 'zod'
import { chargedUsageFields } from './charge-usage.ts'
import { budgetSchema, reachedThresholdSchema } from './alerts.ts'
import { jsonObject, requiredReference } from './fields.ts'

/* Schemas of `POST /v1/sdk/user-info`. */

export const userInfoRequestSchema = z.object({
  customerRef: requiredReference,
  productRef: requiredReference,
})

export type UserInfoRequest = z.infer<typeof userInfoRequestSchema>

export const userUsageSchema = z.object({
  total: z.number(),
  used: z.number(),
  remaining: z.number(),
  meterRef: z.string().optional(),
  percentUsed: z.number().optional(),
  /** For a plan with roll-over: the part of `total` that rolled over from the previous period. */
  carriedOverUnits: z.number().optional(),
  ...chargedUsageFields,
  /** For a customer with packs: the units that the plan leaves, absent for any number, and those that packs leave. */
  planRemaining: z.number().optional(),
  packRemaining: z.number().optional(),
})

export type UserUsageBody = z.infer<typeof userUsageSchema>

export const userInfoResponseSchema = z.object({
  /** A summary to display, such as `Active subscription: Reports (25% usage consumed)`. */
  status: z.string(),
  verifyUrl: z.string().nullable(),
  user: z
    .object({
      reference: z.string(),
      email: z.string(),
      name: z.string().nullable(),
      externalRef: z.string().nullable(),
    })
    .optional(),
  purchase: z
    .object({
      reference: z.string(),
      status: z.string(),
      productName: z.string(),
      planType: z.string(),
      startDate: z.string().nullable(),
      endDate: z.string().nullable(),
      usage: userUsageSchema,
      plan: z.object({
        reference: z.string(),
        price: z.number(),
        currency: z.string(),
        type: z.string(),
        billingCycle: z.string().nullable(),
        features: jsonObject.nullable(),
        limits: jsonObject.nullable(),
      }),
    })
    .optional(),
  /** Thresholds of alerts that the customer has reached in running periods of the product, newest first. Absent for none. */
  reached: z.array(reachedThresholdSchema).optional(),
  /** Absent if the customer has set no budget for the product. */
  budget: budgetSchema.optional(),
})

export type UserInfoResponse = z.infer<typeof userInfoResponseSchema>
