import { z } from 'zod'
import { jsonObject, optionalReference, pageQuery } from './fields.ts'

/* `/v1/ui/invoices`. */

export const invoiceStatuses = [
  'draft',
  'open',
  'paid',
  'void',
  'uncollectible',
  'partly_refunded',
  'refunded',
] as const
export type InvoiceStatus = (typeof invoiceStatuses)[number]

/** Of a payment that the customer's bank has asked back: not decided, decided for the provider, or for the customer. */
export const invoiceDisputes = ['open', 'won', 'lost'] as const
export type InvoiceDispute = (typeof invoiceDisputes)[number]

export const invoicesQuerySchema = z.object({
  ...pageQuery,
  status: z.enum(invoiceStatuses).optional(),
  customerRef: optionalReference.optional(),
  purchaseRef: optionalReference.optional(),
})

/** Amounts are minor units of `currency`, some of which are below nothing: credits. */
const amount = z.int()

export const invoiceSummarySchema = z.object({
  reference: z.string(),
  /** Missing for a draft. */
  number: z.string().optional(),
  status: z.enum(invoiceStatuses),
  customerRef: z.string(),
  purchaseRef: z.string().optional(),
  currency: z.string(),
  total: amount,
  /** Of the total: what is to be paid yet. */
  due: amount,
  paid: amount,
  /** Moved on to the customer's next invoice: too little to be charged, or a credit. */
  carried: amount,
  /** Taken back by credit notes before it was paid. */
  credited: amount,
  /** Of what was paid. */
  refunded: amount,
  /** Missing where no payment of it was disputed. The money of a `lost` dispute is gone, though the invoice stays paid. */
  dispute: z.enum(invoiceDisputes).optional(),
  /** More than can be charged at once: somebody has to decide how it is paid. */
  isHeld: z.boolean(),
  /** The total for people. */
  formattedTotal: z.string(),
  createdAt: z.string(),
  issuedAt: z.string().optional(),
  paidAt: z.string().optional(),
  /** When it became void or uncollectible. */
  closedAt: z.string().optional(),
})

export type InvoiceSummaryBody = z.infer<typeof invoiceSummarySchema>

export const invoicesPageSchema = z.object({
  invoices: z.array(invoiceSummarySchema),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
})

const invoiceLineSchema = z.object({
  kind: z.string(),
  description: z.string(),
  /** The time it is for: from the start up to the end. */
  periodStart: z.string().optional(),
  periodEnd: z.string().optional(),
  amount,
  /** The amount before it was rounded, as a fraction of whole numbers. */
  exact: z.object({ numerator: z.string(), denominator: z.string() }),
  /** All that the amount was computed from. */
  inputs: jsonObject,
})

export type InvoiceLineBody = z.infer<typeof invoiceLineSchema>

const invoiceTaxSchema = z.object({
  treatment: z.enum(['standard', 'reverse_charge', 'none']),
  /** A fraction: 0.25. */
  rate: z.number(),
  /** ISO 3166-1 alpha-2: where the customer is. */
  country: z.string().optional(),
  /** What the tax is of, without it. */
  base: amount,
  amount,
  /** Whether prices contain it. */
  inclusive: z.boolean(),
})

export type InvoiceTaxBody = z.infer<typeof invoiceTaxSchema>

const invoicePaymentSchema = z.object({
  /** Of the transaction. */
  reference: z.string(),
  amount,
  paidAt: z.string(),
  /** Missing where it was paid otherwise. */
  card: z
    .object({
      brand: z.string(),
      last4: z.string(),
      /** Missing for payments before it was stored. */
      expMonth: z.number().int().optional(),
      expYear: z.number().int().optional(),
    })
    .optional(),
  dispute: z.object({ status: z.enum(invoiceDisputes), amount }).optional(),
})

export type InvoicePaymentBody = z.infer<typeof invoicePaymentSchema>

const creditNoteSchema = z.object({
  reference: z.string(),
  number: z.string(),
  total: amount,
  /** What of the total is tax. */
  tax: amount,
  /** Taken off what was due, kept for the next invoice, or paid back. */
  settles: z.enum(['invoice', 'balance', 'refund']),
  reason: z.string().optional(),
  createdAt: z.string(),
  /** The refund that it was written for did not arrive: it takes nothing back since. */
  voidedAt: z.string().optional(),
})

export type CreditNoteBody = z.infer<typeof creditNoteSchema>

const optionalText = z.string().nullable()

export const invoiceSchema = invoiceSummarySchema.extend({
  lines: z.array(invoiceLineSchema),
  /** Of what is charged here; what earlier invoices left was taxed there. */
  taxes: z.array(invoiceTaxSchema),
  /** What paid it. */
  payments: z.array(invoicePaymentSchema),
  creditNotes: z.array(creditNoteSchema),
  /** As they were when it was issued. */
  seller: z
    .object({
      name: z.string(),
      country: optionalText,
      companyNumber: optionalText,
      taxId: optionalText,
      supportEmail: optionalText,
      /** Lines separated by line feeds, without the country; missing on invoices from before addresses were kept. */
      address: optionalText.optional(),
    })
    .optional(),
  buyer: z
    .object({
      reference: z.string(),
      name: optionalText,
      email: z.string(),
      country: optionalText.optional(),
      taxId: optionalText.optional(),
      address: optionalText.optional(),
    })
    .optional(),
  /** Of what was bought, as it was called when the invoice was issued. */
  productName: z.string().optional(),
})

export type InvoiceBody = z.infer<typeof invoiceSchema>
