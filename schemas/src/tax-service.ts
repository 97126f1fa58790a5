import { z } from 'zod'

/*
 * The request that Tollgate sends to the tax service of a provider, and the answer that it expects. Amounts are integers in minor units
 * of the currency.
 */

const optionalText = z.string().nullable()

export const taxServiceRequestSchema = z.object({
  id: z
    .string()
    .describe('The same for the same question, so that the service can repeat its answer'),
  livemode: z.boolean(),
  date: z.string().describe('Day of the sale in UTC, such as `2026-11-27`'),
  currency: z.string().describe('ISO 4217, upper case'),
  pricesIncludeTax: z.boolean(),
  seller: z.object({
    country: optionalText.describe('ISO 3166-1 alpha-2'),
    taxId: optionalText,
    address: optionalText,
  }),
  buyer: z.object({
    reference: z.string().describe('Reference of the customer'),
    isBusiness: z.boolean(),
    country: optionalText.describe('ISO 3166-1 alpha-2'),
    region: optionalText.describe('ISO 3166-2 without the country'),
    address: optionalText,
    taxId: optionalText.describe('Null if it was found invalid'),
  }),
  product: optionalText.describe('Reference of the product'),
  plan: optionalText.describe('Reference of the plan'),
  lines: z.array(
    z.object({
      kind: z.string().describe('As in the lines of invoices, such as `recurring` or `usage`'),
      description: z.string(),
      amount: z.int(),
    }),
  ),
})

export type TaxServiceRequest = z.infer<typeof taxServiceRequestSchema>

/** Text that is printed on invoices. */
const printed = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u)

export const taxServiceAnswerSchema = z.object({
  rates: z
    .array(
      z.object({
        rate: z
          .string()
          .regex(/^(0(\.\d{1,6})?|1(\.0{1,6})?)$/)
          .describe('Fraction as decimal text, such as `0.0625` for 6.25 %, at most 6 decimals'),
        label: printed.describe('Name of the tax on invoices'),
        jurisdiction: printed.nullish().describe('Who levies the tax, such as `US-CA`'),
      }),
    )
    .max(10)
    .describe('The taxes on all lines, which add up. Empty: the sale is not taxed'),
  treatment: z
    .enum(['standard', 'reverse_charge', 'none'])
    .optional()
    .describe('Missing: `standard` if there is a rate above 0, otherwise `none`'),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .optional()
    .describe('Country that the invoice states. Missing: that of the buyer'),
  region: z
    .string()
    .regex(/^[A-Z0-9]{1,3}$/)
    .optional(),
})

export type TaxServiceAnswer = z.infer<typeof taxServiceAnswerSchema>
