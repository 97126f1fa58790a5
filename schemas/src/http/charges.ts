import { z } from 'zod'
import { chargesCharsMax, chargesMax, dimensionCharsMax, listItemsMax } from '../limits.ts'
import { positiveQuantity, requiredReference, shortText, unitCount } from './fields.ts'

/*
 * Charges of a plan. Each prices or limits one meter. Prices are decimal text, because a JSON number has too few digits for the
 * price of a token.
 */

export const chargeModels = ['per_unit', 'graduated', 'volume', 'package', 'matrix'] as const
export type ChargeModel = (typeof chargeModels)[number]

/** Decimal text from 0, such as `0.0003`, with at most 9 digits before and 12 after the point. */
const priceText = z.string().regex(/^\d{1,9}(?:\.\d{1,12})?$/, {
  error: 'Expected decimal text with at most 12 decimals, such as "0.0003"',
})

/** A name that providers give to a part of a plan. */
export const stableKey = z
  .string()
  .regex(/^[A-Za-z0-9_:.-]{1,64}$/, { error: 'Expected 1 to 64 letters, digits, _ : . or -' })

const prices = {
  /** Minor units of the plan's currency for one unit, or for one package. */
  price: priceText.optional(),
  /** Credits for one unit, or for one package. */
  creditsPerUnit: priceText.optional(),
}

const dimensionValue = z.string().max(dimensionCharsMax)

const chargeTierSchema = z.object({
  /** The last unit of the tier. Only the last tier has none. */
  upTo: positiveQuantity.nullable(),
  ...prices,
  /** Minor units that are charged once if a unit of the tier is used. */
  flatPrice: priceText.optional(),
})

const matrixRowSchema = z.object({
  /** Values of the meter's dimensions that a record must have. */
  when: z.record(requiredReference, dimensionValue),
  ...prices,
})

export const chargeSchema = z.object({
  /** Stable name of the charge in the plan. Default: the name of the meter. */
  key: stableKey.optional(),
  displayName: shortText.optional(),
  /** Name of the meter. */
  meter: requiredReference,
  /** Charges only records whose dimensions have one of these values. */
  where: z.record(requiredReference, z.array(dimensionValue).min(1).max(listItemsMax)).optional(),
  model: z.enum(chargeModels).default('per_unit'),
  ...prices,
  /** For `graduated` (each unit has the price of its own tier) and `volume` (all have the price of the last reached tier). */
  tiers: z.array(chargeTierSchema).min(1).max(listItemsMax).optional(),
  /** For `package`: a started package is charged completely. */
  unitsPerPackage: positiveQuantity.optional(),
  /** For `matrix`: the first row that matches a record has its price, and all other records have the price of the charge. */
  rows: z.array(matrixRowSchema).min(1).max(listItemsMax).optional(),
  /** Units of a period that cost nothing. */
  included: unitCount.optional(),
  /** Unused included units are added to those of the next period. */
  rollover: z.boolean().optional(),
  /** Units of a period after which limit checks refuse further usage of the meter. 0 and absent mean no cap. */
  cap: unitCount.optional(),
  per: z.enum(['period']).default('period'),
})

export type Charge = z.infer<typeof chargeSchema>

export const chargesSchema = z
  .array(chargeSchema)
  .min(1, {
    error:
      'List at least one charge. An update cannot remove all charges of a plan: create a plan without them instead.',
  })
  .max(chargesMax)
  .refine((charges) => JSON.stringify(charges).length <= chargesCharsMax, {
    error: `All charges together have at most ${chargesCharsMax} characters as JSON`,
  })
