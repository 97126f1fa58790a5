import { z } from 'zod'
import {
  agreedPricesCharsMax,
  agreedPricesMax,
  chargesMax,
  listItemsMax,
  rampPeriodsMax,
  rampStepsMax,
} from '../limits.ts'
import { chargeSchema, stableKey } from './charges.ts'
import { amountMinor, currencyCode, requiredReference, storedInstantText } from './fields.ts'
import { creditRate, usageTierSchema } from './unit-prices.ts'

/* Prices in place of those of a plan: for its first periods, or for one customer. Absent fields are those of the plan. */

const { price, creditsPerUnit, tiers, rows } = chargeSchema.shape

/** A price in place of the price of a charge, in the unit that the charge has. */
const chargePriceSchema = z.object({
  /** Key of the charge. */
  charge: stableKey,
  price,
  creditsPerUnit,
  /** All tiers of the charge. */
  tiers,
  /** Prices of rows that the matrix of the charge has. The other rows keep their prices. */
  rows,
})

const priceFields = {
  price: amountMinor
    .describe(
      "Price of a period, in minor units of the plan's currency: of a hybrid plan its base price, of a one-time plan the price of the purchase. 0 means free.",
    )
    .optional(),
  creditsPerUnit: creditRate
    .describe('Credits for a unit, in place of those of the plan.')
    .optional(),
  overageRate: creditRate
    .describe('Credits for a unit above the limit, in place of `overagePolicy.overageRate`.')
    .optional(),
  usageTiers: z
    .array(usageTierSchema)
    .min(1)
    .max(listItemsMax)
    .describe('All tiers, in place of those of the plan.')
    .optional(),
  charges: z
    .array(chargePriceSchema)
    .max(chargesMax)
    .describe('Prices of charges, by their keys.')
    .optional(),
  minimumCommitment: amountMinor
    .describe(
      'What the usage of a period costs at least, in place of the minimum of the plan. 0 means no minimum.',
    )
    .optional(),
}

export const rampStepSchema = z.object({
  periods: z
    .int()
    .min(1)
    .max(rampPeriodsMax)
    .describe('Number of billing periods that have these prices.'),
  ...priceFields,
})

export type RampStep = z.infer<typeof rampStepSchema>

/** Steps in the order of time. After the last one, the prices beside the ramp apply. */
export const rampSchema = z
  .array(rampStepSchema)
  .max(rampStepsMax)
  .refine(isShortText, {
    error: `A ramp must not have more than ${agreedPricesCharsMax} characters as JSON text`,
  })

const agreedPriceSchema = z.object({
  planRef: requiredReference.describe('Reference of the plan.'),
  currency: currencyCode
    .describe(
      'Currency of the amounts. Absent in a request: that of the plan. The prices have no effect while the plan has another currency.',
    )
    .optional(),
  from: storedInstantText
    .describe(
      'Periods that begin then or later have the prices. Absent: also those that begin now.',
    )
    .optional(),
  until: storedInstantText
    .describe(
      'Periods that begin then or later no longer have the prices. Absent: they have no end.',
    )
    .optional(),
  ...priceFields,
  setupFee: amountMinor
    .describe("Set-up fee in minor units of the plan's currency, in place of that of the plan.")
    .optional(),
  ramp: rampSchema
    .describe(
      'Prices of the first periods of a purchase, in place of the fields beside it and of the ramp of the plan.',
    )
    .optional(),
})

export type AgreedPrice = z.infer<typeof agreedPriceSchema>

/** Prices of a period, of a plan or of a customer. */
export type PriceFields = Omit<RampStep, 'periods'> & Pick<AgreedPrice, 'setupFee'>

/** As they are stored, with their currencies, so the text may be longer than that of a request. */
export const shownAgreedPricesSchema = z.array(agreedPriceSchema).max(agreedPricesMax)

export const agreedPricesSchema = shownAgreedPricesSchema.refine(isShortText, {
  error: `The prices must not have more than ${agreedPricesCharsMax} characters as JSON text`,
})

function isShortText(prices: readonly unknown[]): boolean {
  return JSON.stringify(prices).length <= agreedPricesCharsMax
}
