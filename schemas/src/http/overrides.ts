import { z } from 'zod'
import { chargesMax, overrideLimitsMax } from '../limits.ts'
import { chargeSchema, stableKey } from './charges.ts'
import { usageLimitSchema } from './usage-limits.ts'

/* Terms that one customer has instead of those of a product's plans. */

const ownLimits = z.array(usageLimitSchema).max(overrideLimitsMax)

const { included, cap, price, creditsPerUnit, tiers, rows } = chargeSchema.shape

/** Absent fields are those of the plan. As in plans, a `cap` or `included` of 0 means none. */
const chargeOverrideSchema = z.object({
  /** Key of the charge. Charges of other plans with this key have the override, too. */
  charge: stableKey,
  /** Replaces the included units from the next period on. */
  included,
  /** Replaces the cap at once. */
  cap,
  /** Replaces the price from the next period on, in the unit that the charge has. */
  price,
  creditsPerUnit,
  /** Replaces all tiers from the next period on. */
  tiers,
  /** Prices of rows that the matrix of the charge has, from the next period on. The other rows keep their prices. */
  rows,
})

export type ChargeOverride = z.infer<typeof chargeOverrideSchema>

export const overridesUpdateSchema = z.object({
  charges: z.array(chargeOverrideSchema).max(chargesMax).default([]),
  /** Each replaces the limit of a plan that has its key, or is added. They act at once. */
  usageLimits: ownLimits.default([]),
})

export type OverridesInput = z.infer<typeof overridesUpdateSchema>

const overridesFields = {
  charges: z.array(chargeOverrideSchema),
  usageLimits: ownLimits,
  /** When they were changed last. Prices and included units apply to periods that begin then or later. Absent if never. */
  since: z.string().optional(),
}

/** The overrides as a purchase shows them. */
export const shownOverridesSchema = z.object(overridesFields)

export type OverridesBody = z.infer<typeof shownOverridesSchema>

export const overridesResponseSchema = z.object({
  customerRef: z.string(),
  productRef: z.string(),
  ...overridesFields,
})

export const overridesDeletedSchema = z.object({ success: z.literal(true) })
