import { z } from 'zod'
import { errorIdentity } from './errors.ts'
import { emailText, jsonObject, optionalReference, requiredReference, shortText } from './fields.ts'
import { pageLocale } from './page-locale.ts'
import { purchaseBriefSchema } from './purchases.ts'

/* Schemas of `/v1/sdk/customers`. */

/** Exactly one field must be set. Its error has a special text, so the check is not part of the schema. */
export const customerQuerySchema = z.object({
  reference: optionalReference.optional(),
  externalRef: optionalReference.optional(),
  email: shortText.optional(),
})

export type CustomerQuery = z.infer<typeof customerQuerySchema>

const customerFields = z.object({
  /** Clients expect a special error for an invalid address: see `invalidEmailMessage`. */
  email: emailText,
  name: shortText.optional(),
  telephone: shortText.optional(),
  externalRef: requiredReference.optional(),
  /** Language of the customer's emails. A language without texts is stored as none. */
  locale: pageLocale.optional(),
  metadata: jsonObject.optional(),
})

export const customerCreateSchema = customerFields.extend({
  /** Reference of the test clock by which the customer lives, in the sandbox. It cannot be changed later. */
  testClock: requiredReference.optional(),
})

export type CustomerCreateInput = z.infer<typeof customerCreateSchema>

/** Only the given fields change. */
export const customerUpdateSchema = customerFields.partial()

export type CustomerUpdateInput = z.infer<typeof customerUpdateSchema>

export const customerSchema = z.object({
  reference: z.string(),
  name: z.string(),
  email: z.string(),
  externalRef: z.string().optional(),
  telephone: z.string().optional(),
  /** Language of emails. Missing: that of the provider. */
  locale: z.string().optional(),
  status: z.string(),
  created: z.string(),
  metadata: jsonObject.optional(),
  /** Reference of the customer's test clock. Missing for a customer of real time. */
  testClock: z.string().optional(),
  /** Purchases that give access. */
  purchases: z.array(purchaseBriefSchema).optional(),
})

export type CustomerBody = z.infer<typeof customerSchema>

/** Ways to handle the open invoices, unbilled usage and bought credits of a deleted customer. */
const customerSettlements = ['bill_now', 'write_off'] as const

export type CustomerSettlement = (typeof customerSettlements)[number]

/** The field may be in the query or in the body. */
export const customerDeleteSchema = z.object({ settle: z.enum(customerSettlements).optional() })

export type CustomerDeleteInput = z.infer<typeof customerDeleteSchema>

/** Open amounts of a customer in minor units of the currency. */
const openAmountSchema = z.object({
  currency: z.string(),
  /** Invoices that are issued and unpaid. */
  openInvoices: z.int(),
  /** Too little to be charged so far. Negative for a credit of the customer. */
  carried: z.int(),
  /** Usage that is not on an invoice yet, without tax. */
  unbilledUsage: z.int(),
  /** Price of the bought credits that are left, without tax. */
  boughtCredits: z.int(),
})

/** Body of the 409 response. The customer is unchanged. */
export const customerNotSettledSchema = z.object({
  statusCode: z.literal(409),
  error: z.string(),
  message: z.string(),
  ...errorIdentity,
  code: z.literal('customer_not_settled'),
  open: z.object({
    amounts: z.array(openAmountSchema),
    invoices: z.array(z.string()),
    /** Whole bought credits that are left. */
    boughtCredits: z.int(),
  }),
})

export type CustomerNotSettledBody = z.infer<typeof customerNotSettledSchema>

const unchargedSchema = z.object({
  /** Missing for amounts that waited for the next invoice. */
  invoiceRef: z.string().optional(),
  /** Minor units of the currency. */
  amount: z.int(),
  currency: z.string(),
  reason: z.enum(['declined', 'no_card', 'processing', 'held', 'below_minimum']),
})

/**
 * Body of the response with status 402 if the card was declined or is missing, otherwise 409. The customer still exists, and its
 * invoices are issued.
 */
export const customerNotChargedSchema = z.object({
  statusCode: z.union([z.literal(402), z.literal(409)]),
  error: z.string(),
  message: z.string(),
  ...errorIdentity,
  code: z.literal('customer_not_charged'),
  uncharged: z.array(unchargedSchema),
})

export type CustomerNotChargedBody = z.infer<typeof customerNotChargedSchema>
