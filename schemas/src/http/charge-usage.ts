import { z } from 'zod'
import { limitWindows } from './usage-limits.ts'

/* Usage of a plan with charges in the current period, as the API and the portal show it. */

const chargeUsageSchema = z.object({
  /** Key of the charge. */
  charge: z.string(),
  displayName: z.string().optional(),
  meterName: z.string(),
  /** Units of the meter in the period. Absent for a charge with `where`, which counts only some of them. */
  used: z.number().optional(),
  /** Units of the period that cost nothing, without those carried over. Absent for none. */
  included: z.number().optional(),
  /** Included units that rolled over from the previous period, as known now. Absent without roll-over or with `where`. */
  carriedOver: z.number().optional(),
  cap: z.number().optional(),
  /** Units that the cap leaves. */
  remaining: z.number().optional(),
  /**
   * Price of the period's usage so far, in minor units of the purchase's currency, without tax. Absent if the wallet pays, if the price
   * depends on dimensions, or if several purchases share the period.
   */
  cost: z.number().optional(),
  /** Credits that the period's usage costs, as decimal text. Absent if no wallet pays, or if the price depends on dimensions. */
  credits: z.string().optional(),
  /** End of the period in ISO 8601. Absent for a period without an end. */
  resetsAt: z.string().optional(),
})

const limitUsageSchema = z.object({
  /** Name of the limit. */
  limit: z.string(),
  meterName: z.string(),
  /** The window in which units are counted. `rolling` has `rollingSeconds`. */
  per: z.enum(limitWindows),
  rollingSeconds: z.number().optional(),
  used: z.number(),
  cap: z.number(),
  remaining: z.number(),
  /** When the window ends, or a rolling window has room again, in ISO 8601. Absent for a window without an end. */
  resetsAt: z.string().optional(),
})

/** Fields of usage that only plans with charges have. */
export const chargedUsageFields = {
  charges: z.array(chargeUsageSchema).optional(),
  /** Limits in addition to the caps of charges. */
  limits: z.array(limitUsageSchema).optional(),
}

export type ChargeUsageBody = z.infer<typeof chargeUsageSchema>
export type LimitUsageBody = z.infer<typeof limitUsageSchema>
