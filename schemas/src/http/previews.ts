import { z } from 'zod'
import { listItemsMax } from '../limits.ts'
import { currencyCode, pageQuery, requiredReference } from './fields.ts'
import { invoiceLineSchema, invoiceTaxSchema } from './invoices.ts'
import { previewedUsageSchema, unitPriceSchema } from './price-preview.ts'

/* Schemas of the previews of invoices, changes of plan and cancellations. */

/** Minor units of the currency. Negative amounts are credits. */
const amount = z.int()
const decimalText = z.string()

export const invoiceCauses = [
  'plan_change',
  'first_payment',
  'usage',
  'renewal',
  'renewal_and_usage',
] as const

export const previewedInvoiceSchema = z.object({
  cause: z.enum(invoiceCauses),
  /** Missing for a purchase that does not exist yet. */
  purchaseRef: z.string().optional(),
  planRef: z.string(),
  planName: z.string(),
  currency: z.string(),
  /** Missing for a plan without periods, whose usage is billed when the purchase ends. */
  issuedAt: z.string().optional(),
  /** When the saved card is charged for the first time. Missing if nothing is due, or if a person has to decide how it is paid. */
  chargedAt: z.string().optional(),
  /** False if there is no invoice, because the lines cost nothing. */
  isIssued: z.boolean(),
  lines: z.array(
    invoiceLineSchema.extend({
      /** The tiers that the usage reaches, as in the price preview. Only lines of the usage of a period have them. */
      prices: z.array(unitPriceSchema).optional(),
    }),
  ),
  taxes: z.array(invoiceTaxSchema),
  /** From the customer's earlier invoices; a credit is negative. It is one of the lines. */
  carriedIn: amount,
  total: amount,
  /** Charged for this invoice. */
  due: amount,
  /** Moved to the customer's next invoice, because it is less than `minimumCharge` or is a credit. */
  carried: amount,
  /** The smallest amount that the payment processor charges. */
  minimumCharge: amount,
  /** The amount exceeds the maximum of one charge. */
  isHeld: z.boolean(),
  formattedTotal: z.string(),
})

export type PreviewedInvoiceBody = z.infer<typeof previewedInvoiceSchema>

const invoiceFields = {
  /** Time of the preview. */
  asOf: z.string(),
  /**
   * All usage that was received before this time is charged. It is earlier than `asOf` while accepted usage is not stored yet.
   */
  usageAsOf: z.string(),
  /** In the order in which they are issued. */
  invoices: z.array(previewedInvoiceSchema),
}

export const invoicePreviewRequestSchema = z.object({
  /** Usage of the whole running period, in place of what was recorded for these meters. */
  usage: z.array(previewedUsageSchema).min(1).max(listItemsMax).optional(),
})

const periodSchema = z.object({ start: z.string(), end: z.string().optional() })

export const invoicePreviewSchema = z.object({
  purchaseRef: z.string(),
  /** The running period. Missing for a purchase that has ended. `end` is missing for a plan without periods. */
  period: periodSchema.optional(),
  ...invoiceFields,
  /** Usage of the request that no invoice charges. */
  unpriced: z.array(previewedUsageSchema),
  /** Present if the plan bills a period before its end, at an amount of unbilled usage. */
  billWithinPeriod: z
    .object({
      atUnbilled: amount,
      /** The usage costs that much: it is billed at once, and the last invoice of the period has only the rest. */
      isReached: z.boolean(),
    })
    .optional(),
  /** Present if credits of the wallet pay for the usage. */
  wallet: z
    .object({
      /** Credits, after all usage so far. */
      creditBalance: decimalText,
      /** What the usage of the request costs, at the current worth of credits. Missing without usage. */
      usageCost: amount.optional(),
    })
    .optional(),
})

export type InvoicePreviewBody = z.infer<typeof invoicePreviewSchema>

export const changePreviewRequestSchema = z.object({
  planRef: requiredReference,
  /** Default: the currency of the purchase, or of the plan. */
  currency: currencyCode.optional(),
})

export const changePreviewSchema = z.object({
  /** As the request that activates the plan would answer. */
  status: z.enum(['activated', 'already_active', 'payment_required', 'invalid']),
  /** Why the change is refused, or what comes first. */
  message: z.string().optional(),
  /** What the customer must do before the plan begins. Missing if the change is refused. */
  needs: z.enum(['nothing', 'payment', 'card', 'unpaid_invoices']).optional(),
  /** When the plan begins: now, or with a renewal. */
  startsAt: z.string().optional(),
  trialEndsAt: z.string().optional(),
  /** Value of the paid time that the plan before does not use. */
  unusedTime: z
    .object({
      amount,
      currency: z.string(),
      /** `credited`: the new plan costs that much less now. `lost`: it is not paid back. */
      treatment: z.enum(['credited', 'lost']),
    })
    .optional(),
  /** Unused units that the plan before would have carried over to its next period. */
  lostUnits: z.array(z.object({ meterName: z.string(), units: decimalText })).optional(),
  /** Units that the rest of the period includes. Missing for as many as the plan includes. */
  includedUnits: decimalText.optional(),
  /** Whether usage of the running period counts against the units of the new plan. */
  sharesUsage: z.boolean().optional(),
  asOf: z.string(),
  usageAsOf: z.string().optional(),
  invoices: z.array(previewedInvoiceSchema),
})

export type ChangePreviewBody = z.infer<typeof changePreviewSchema>

export const cancelPreviewSchema = z.object({
  /** `scheduled`: access continues until `endsAt`. */
  effect: z.enum(['ends_now', 'scheduled', 'already_cancelled']),
  /** When access ends. */
  endsAt: z.string().optional(),
  /** The notice for the running period has passed: a further period begins then, and is charged. */
  renewsAt: z.string().optional(),
  /** Open invoices for a period that will not begin. What they charge for it is no longer owed. */
  releasedInvoices: z.array(z.string()),
  ...invoiceFields,
})

export type CancelPreviewBody = z.infer<typeof cancelPreviewSchema>

export const planPreviewQuerySchema = z.object(pageQuery)

/** The price of the last complete period, without tax. */
const periodPriceSchema = z.object({ price: amount, usage: amount, total: amount })

export const previewedHolderSchema = z.object({
  purchaseRef: z.string(),
  customerRef: z.string(),
  currency: z.string(),
  /** The last complete period, whose usage is priced. Missing if there is none yet. */
  period: periodSchema.optional(),
  /** By the terms of the purchase. */
  before: periodPriceSchema.optional(),
  /** By the changed plan. Missing if it has no price in the currency. */
  after: periodPriceSchema.optional(),
  /** `after` less `before`. */
  difference: amount.optional(),
})

export const planPreviewSchema = z.object({
  planRef: z.string(),
  asOf: z.string(),
  /** Missing for a page without holders. */
  usageAsOf: z.string().optional(),
  /** Only purchases that begin after the change get it. Holders keep the terms of their purchase. */
  appliesTo: z.literal('new_purchases'),
  holders: z.array(previewedHolderSchema),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
})

export type PlanPreviewBody = z.infer<typeof planPreviewSchema>
