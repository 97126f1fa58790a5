import { z } from 'zod'
import { dimensionCharsMax, listItemsMax, pricePointsMax, pricedBesideMax } from '../limits.ts'
import { currencyCode, requiredReference, unitCount } from './fields.ts'
import { planUpdateSchema } from './plans.ts'

/* Schemas of `price-preview` and `price-curve` under `/v1/sdk/products/{productRef}/plans/{planRef}`. */

export const previewedUsageSchema = z.object({
  /** Name of the meter. */
  meter: requiredReference,
  /** Units of one whole period. */
  units: unitCount,
  /** Values of the meter's dimensions. */
  dimensions: z.record(requiredReference, z.string().max(dimensionCharsMax)).optional(),
})

const pricedPlan = {
  /** Default: the currency of the plan. */
  currency: currencyCode.optional(),
  /** Changes of the plan that are priced and not saved: the body of an update. */
  changes: planUpdateSchema.optional(),
}

export const pricePreviewRequestSchema = z.object({
  usage: z.array(previewedUsageSchema).min(1).max(listItemsMax),
  ...pricedPlan,
})

const decimalText = z.string()

/** Units with the same price. */
export const unitPriceSchema = z.object({
  /** Units with this price, or packages. */
  units: decimalText,
  price: decimalText,
  /** Charged once for the tier. */
  flatPrice: decimalText.optional(),
})

export const pricePreviewSchema = z.object({
  currency: z.string(),
  /** One line for each charge of the plan, as on an invoice. A plan without charges has one line, for `requests`. */
  lines: z.array(
    z.object({
      /** Key of the charge. Absent for a plan without charges. */
      charge: z.string().optional(),
      displayName: z.string().optional(),
      meterName: z.string(),
      /** Units that the charge counts, including those that cost nothing. */
      units: decimalText,
      /** Whether prices are minor units of the currency, or credits. */
      pricedIn: z.enum(['minor', 'credits']),
      prices: z.array(unitPriceSchema),
      /** Minor units of the currency, rounded once. */
      amount: z.number(),
    }),
  ),
  /** Usage that the plan does not price. */
  unpriced: z.array(previewedUsageSchema),
  /** What the usage costs less than the minimum of the plan, in minor units. Absent if it costs no less. */
  minimum: z.number().optional(),
  /** Minor units of the currency: the price of the usage or the minimum, whichever is more, without the price of the period and without tax. */
  total: z.number(),
})

export type PricePreviewBody = z.infer<typeof pricePreviewSchema>
export type UnitPriceBody = z.infer<typeof unitPriceSchema>

export const priceCurveRequestSchema = z.object({
  /** Name of the meter whose units differ from point to point. */
  meter: requiredReference,
  /** Values of the meter's dimensions. */
  dimensions: previewedUsageSchema.shape.dimensions,
  /** Units of the meter in one whole period, a point for each. */
  units: z.array(unitCount).min(1).max(pricePointsMax),
  /** Further usage of the period, the same at every point. */
  usage: z.array(previewedUsageSchema).max(pricedBesideMax).optional(),
  ...pricedPlan,
})

/** Amounts are in minor units of the currency, without tax. */
export const priceCurveSchema = z.object({
  currency: z.string(),
  /** Price of each period without usage; for a one-time plan, price of the purchase. */
  price: z.int(),
  /** In the order of the request. */
  points: z.array(
    z.object({
      units: z.number(),
      /** The price of the usage or the minimum of the plan, whichever is more. */
      usage: z.int(),
      /** `usage` and `price` together. */
      total: z.int(),
    }),
  ),
})

export type PriceCurveBody = z.infer<typeof priceCurveSchema>
