import { z } from 'zod'
import { errorIdentity } from './errors.ts'
import { emailText, jsonObject, optionalReference, requiredReference, shortText } from './fields.ts'
import { purchaseBriefSchema } from './purchases.ts'

/* `/v1/sdk/customers`. */

/** Exactly one must be given; that refusal has a text of its own, so it is no part of the schema. */
export const customerQuerySchema = z.object({
  reference: optionalReference.optional(),
  externalRef: optionalReference.optional(),
  email: shortText.optional(),
})

export type CustomerQuery = z.infer<typeof customerQuerySchema>

export const customerCreateSchema = z.object({
  /** Clients expect an answer of its own for a bad address: see `invalidEmailMessage`. */
  email: emailText,
  name: shortText.optional(),
  telephone: shortText.optional(),
  externalRef: requiredReference.optional(),
  metadata: jsonObject.optional(),
})

export type CustomerCreateInput = z.infer<typeof customerCreateSchema>

/** Only supplied fields change. */
export const customerUpdateSchema = customerCreateSchema.partial()

export type CustomerUpdateInput = z.infer<typeof customerUpdateSchema>

export const customerSchema = z.object({
  reference: z.string(),
  name: z.string(),
  email: z.string(),
  externalRef: z.string().optional(),
  telephone: z.string().optional(),
  status: z.string(),
  created: z.string(),
  metadata: jsonObject.optional(),
  /** The ones that give access. */
  purchases: z.array(purchaseBriefSchema).optional(),
})

export type CustomerBody = z.infer<typeof customerSchema>

/** What becomes of open invoices, unbilled usage and bought credits of a customer that is deleted. */
const customerSettlements = ['bill_now', 'write_off'] as const

export type CustomerSettlement = (typeof customerSettlements)[number]

/** In the query or in the body. */
export const customerDeleteSchema = z.object({ settle: z.enum(customerSettlements).optional() })

export type CustomerDeleteInput = z.infer<typeof customerDeleteSchema>

/** Minor units of the currency. */
const openAmountSchema = z.object({
  currency: z.string(),
  /** Issued, and not paid. */
  openInvoices: z.int(),
  /** Too little to be charged so far; below 0: a credit of the customer. */
  carried: z.int(),
  /** Used, and on no invoice yet; without tax. */
  unbilledUsage: z.int(),
  /** What was paid for credits that are left, without tax. */
  boughtCredits: z.int(),
})

/** 409: the customer is there as before. */
export const customerNotSettledSchema = z.object({
  statusCode: z.literal(409),
  error: z.string(),
  message: z.string(),
  ...errorIdentity,
  code: z.literal('customer_not_settled'),
  open: z.object({
    amounts: z.array(openAmountSchema),
    invoices: z.array(z.string()),
    /** Whole credits that were paid for and are left. */
    boughtCredits: z.int(),
  }),
})

export type CustomerNotSettledBody = z.infer<typeof customerNotSettledSchema>

const unchargedSchema = z.object({
  /** Missing for what waited for the next invoice. */
  invoiceRef: z.string().optional(),
  /** Minor units of the currency. */
  amount: z.int(),
  currency: z.string(),
  reason: z.enum(['declined', 'no_card', 'processing', 'held', 'below_minimum']),
})

/** 402 where the card was declined or is missing, else 409: the customer is there, and its bills are issued. */
export const customerNotChargedSchema = z.object({
  statusCode: z.union([z.literal(402), z.literal(409)]),
  error: z.string(),
  message: z.string(),
  ...errorIdentity,
  code: z.literal('customer_not_charged'),
  uncharged: z.array(unchargedSchema),
})

export type CustomerNotChargedBody = z.infer<typeof customerNotChargedSchema>
