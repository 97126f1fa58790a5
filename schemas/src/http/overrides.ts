import { z } from 'zod'
import { chargesMax, overrideLimitsMax } from '../limits.ts'
import { agreedPricesSchema, shownAgreedPricesSchema } from './agreed-prices.ts'
import { chargeSchema, stableKey } from './charges.ts'
import { positiveQuantity } from './fields.ts'
import { usageLimitSchema, type UsageLimit } from './usage-limits.ts'

/* Terms that one customer has instead of those of a product's plans. */

/** Removes the limit of a plan that has the key. */
const removedLimitSchema = z.object({ key: stableKey, cap: z.null() })

export type RemovedLimit = z.infer<typeof removedLimitSchema>

/** A limit that a customer has, or that the customer's plan has and the customer does not. */
export type OwnLimit = UsageLimit | RemovedLimit

const { meter, per, ...optionalFields } = usageLimitSchema.shape

/**
 * One object for both forms, because the faults of a union name no field. The fields are checked again as those of the form that
 * `cap` chooses.
 */
const ownLimitInput = z
  .object({
    ...optionalFields,
    /** Units, credits or minor units as in a plan. Null removes the limit that the plan has with this `key`; nothing else is set then. */
    cap: positiveQuantity.nullable(),
    meter: meter.optional(),
    per: per.optional(),
  })
  .transform((given, context): OwnLimit => {
    const { cap, key: _key, ...others } = given
    const form = cap === null ? removedLimitSchema : usageLimitSchema
    const { data, error } = form.safeParse(given)
    for (const { path, message } of error?.issues ?? []) {
      context.issues.push({ code: 'custom', path, message, input: given })
    }
    if (cap === null) {
      for (const [name, value] of Object.entries(others)) {
        if (value === undefined) continue
        const message = 'A limit is removed by its `key` alone'
        context.issues.push({ code: 'custom', path: [name], message, input: value })
      }
    }
    return data ?? z.NEVER
  })

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
  /** Each replaces the limit of a plan that has its key, or removes it, or is added. They act at once. */
  usageLimits: z.array(ownLimitInput).max(overrideLimitsMax).default([]),
  /** Prices of plans for periods that begin from now on. The first one that names a plan and is in force at a time applies. */
  prices: agreedPricesSchema.default([]),
})

export type OverridesInput = z.infer<typeof overridesUpdateSchema>

const overridesFields = {
  charges: z.array(chargeOverrideSchema),
  usageLimits: z.array(z.union([usageLimitSchema, removedLimitSchema])).max(overrideLimitsMax),
  prices: shownAgreedPricesSchema,
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
