import { z } from 'zod'
import { amountMinorMax, itemUnitsMax, listItemsMax } from '../limits.ts'
import {
  currencyCode,
  jsonObject,
  longText,
  nameText,
  optionalReference,
  pageQuery,
  requiredReference,
  storedInstantText,
  unitCount,
} from './fields.ts'

/* Schemas of `/v1/ui/invoices`. */

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

/** State of a dispute of a payment: undecided, won by the provider, or lost to the customer. */
export const invoiceDisputes = ['open', 'won', 'lost'] as const
export type InvoiceDispute = (typeof invoiceDisputes)[number]

export const invoicesQuerySchema = z.object({
  ...pageQuery,
  status: z.enum(invoiceStatuses).optional(),
  customerRef: optionalReference.optional(),
  purchaseRef: optionalReference.optional(),
})

/** Amounts are in minor units of `currency`. Negative amounts are credits. */
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
  /** The part of the total that is still to be paid. */
  due: amount,
  paid: amount,
  /** Moved to the customer's next invoice, because it is too little to be charged or is a credit. */
  carried: amount,
  /** Removed by credit notes before payment. */
  credited: amount,
  /** The refunded part of the paid amount. */
  refunded: amount,
  /** Missing if no payment was disputed. The money of a `lost` dispute is gone, although the invoice stays paid. */
  dispute: z.enum(invoiceDisputes).optional(),
  /** The card is not charged: the amount exceeds the maximum of one charge, or a person holds the invoice. */
  isHeld: z.boolean(),
  /** The total as text to display. */
  formattedTotal: z.string(),
  createdAt: z.string(),
  issuedAt: z.string().optional(),
  /** When it is to be paid and is charged. Missing if it is due when it is issued. */
  dueAt: z.string().optional(),
  paidAt: z.string().optional(),
  /** Time at which it became void or uncollectible. */
  closedAt: z.string().optional(),
})

export type InvoiceSummaryBody = z.infer<typeof invoiceSummarySchema>

export const invoicesPageSchema = z.object({
  invoices: z.array(invoiceSummarySchema),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
})

export const invoiceLineSchema = z.object({
  kind: z.string(),
  description: z.string(),
  /** The charged time, from the start to the exclusive end. */
  periodStart: z.string().optional(),
  periodEnd: z.string().optional(),
  amount,
  /** The amount before rounding, as a fraction of integers. */
  exact: z.object({ numerator: z.string(), denominator: z.string() }),
  /** All inputs of the calculation of the amount. */
  inputs: jsonObject,
})

export type InvoiceLineBody = z.infer<typeof invoiceLineSchema>

export const invoiceTaxSchema = z.object({
  treatment: z.enum(['standard', 'reverse_charge', 'none']),
  /** A fraction such as 0.25. */
  rate: z.number(),
  /** ISO 3166-1 alpha-2 code of the customer's country. */
  country: z.string().optional(),
  /** ISO 3166-2 code of the region whose rate applies, without the country. Absent if the rate is that of the country. */
  region: z.string().optional(),
  /** The taxed amount without the tax. */
  base: amount,
  amount,
  /** True if prices include the tax. */
  inclusive: z.boolean(),
  /** The taxes that the tax service of the provider named. Absent if the built-in rates were used. */
  parts: z
    .array(z.object({ label: z.string(), jurisdiction: z.string().nullable(), rate: z.number() }))
    .optional(),
})

export type InvoiceTaxBody = z.infer<typeof invoiceTaxSchema>

const invoicePaymentSchema = z.object({
  /** Reference of the transaction. */
  reference: z.string(),
  amount,
  paidAt: z.string(),
  /** The card is missing if the invoice was paid in another way. */
  card: z
    .object({
      brand: z.string(),
      last4: z.string(),
      /** The expiry is missing for payments before it was stored. */
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
  /** The tax in the total. */
  tax: amount,
  /** Tells whether the amount was deducted from the due amount, kept for the next invoice, or refunded. */
  settles: z.enum(['invoice', 'balance', 'refund']),
  reason: z.string().optional(),
  createdAt: z.string(),
  /** Set if the refund that the note was issued for failed. The note no longer credits anything. */
  voidedAt: z.string().optional(),
})

export type CreditNoteBody = z.infer<typeof creditNoteSchema>

export const decisionKinds = [
  'credited',
  'voided',
  'written_off',
  'paid_outside',
  'refunded',
  'issued',
  'due_date',
  'held',
  'released',
] as const

/** A decision of a person about the invoice. */
const invoiceDecisionSchema = z.object({
  reference: z.string(),
  kind: z.enum(decisionKinds),
  /** Credited, received, given up, to be refunded, charged by the lines of an issued invoice, or due. */
  amount,
  reason: z.string(),
  /** Who decided, as in the audit log: `user:` or `key:` with an id. */
  decidedBy: z.string(),
  creditNoteRef: z.string().optional(),
  /** The refund in `refunds` that was decided. */
  refundRef: z.string().optional(),
  createdAt: z.string(),
})

export type InvoiceDecisionBody = z.infer<typeof invoiceDecisionSchema>

/** `refused`: the payment processor did not make the refund. */
export const invoiceRefundStatuses = [
  'pending',
  'succeeded',
  'failed',
  'canceled',
  'refused',
] as const
export type InvoiceRefundStatus = (typeof invoiceRefundStatuses)[number]

export const refundTargets = ['card', 'balance'] as const

const invoiceRefundSchema = z.object({
  /** For a refund that was made at the payment processor, its id there. */
  reference: z.string(),
  /** The card that paid, or the balance of the customer, which pays the next invoice. */
  to: z.enum(refundTargets),
  amount,
  status: z.enum(invoiceRefundStatuses),
  /** Id at the payment processor. Missing until the processor has confirmed the refund. */
  processorRefund: z.string().optional(),
  createdAt: z.string(),
})

export type InvoiceRefundBody = z.infer<typeof invoiceRefundSchema>

const optionalText = z.string().nullable()

export const invoiceSchema = invoiceSummarySchema.extend({
  lines: z.array(invoiceLineSchema),
  /** Taxes of the amounts charged on this invoice. Amounts carried from earlier invoices were taxed there. */
  taxes: z.array(invoiceTaxSchema),
  /** The payments of the invoice. */
  payments: z.array(invoicePaymentSchema),
  creditNotes: z.array(creditNoteSchema),
  /** Refunds of the payment, oldest first, also those that were made at the payment processor. */
  refunds: z.array(invoiceRefundSchema),
  /** What people decided about the invoice, oldest first. */
  decisions: z.array(invoiceDecisionSchema),
  /** Seller and buyer as they were when the invoice was issued. */
  seller: z
    .object({
      name: z.string(),
      country: optionalText,
      companyNumber: optionalText,
      taxId: optionalText,
      supportEmail: optionalText,
      /** Lines separated by line feeds, without the country. Missing on invoices from before addresses were stored. */
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
  /** Name of the product when the invoice was issued. */
  productName: z.string().optional(),
})

export type InvoiceBody = z.infer<typeof invoiceSchema>

/* Requests that change an invoice. Each states a reason, which the invoice and the audit log keep. */

const reason = longText.min(1)
const positiveAmount = z.int().min(1)

export const creditInvoiceSchema = z
  .object({
    reason,
    /** With its tax, in minor units. Without an amount and lines, everything that can be credited. */
    amount: positiveAmount.optional(),
    /** Lines by their index, with amounts without the tax that is added to prices: that tax is credited with them. */
    lines: z
      .array(z.object({ line: z.int().min(0), amount: positiveAmount }))
      .min(1)
      .max(listItemsMax)
      .optional(),
  })
  .refine(
    ({ amount, lines }) => amount === undefined || lines === undefined,
    'Give either an amount or lines',
  )

export const giveUpInvoiceSchema = z.object({ reason })

export const payInvoiceOutsideSchema = z.object({
  reason,
  /** In minor units. Without an amount, everything that is due. */
  amount: positiveAmount.optional(),
})

export const refundInvoiceSchema = z.object({
  reason,
  /** To the card that paid the invoice, or to the balance of the customer, which pays the next invoice. */
  to: z.enum(refundTargets),
  /** With its tax, in minor units. Without an amount, everything that was paid and can still be refunded. */
  amount: positiveAmount.optional(),
})

export const changeDueDateSchema = z.object({
  reason,
  /** When the invoice is to be paid and is charged. A time in the past means now. */
  dueAt: storedInstantText,
})

/** A line that a person adds. It costs the amount, or the price of one unit times the quantity. */
const requestedLineSchema = z
  .object({
    /** Printed on the invoice. */
    description: nameText,
    /** In minor units, without the tax that is added to prices. */
    amount: positiveAmount.max(amountMinorMax).optional(),
    /** Price of one unit in minor units. */
    unitAmount: positiveAmount.max(amountMinorMax).optional(),
    /** Number of units, with at most 6 decimals. */
    quantity: unitCount.gt(0).max(itemUnitsMax).optional(),
  })
  .refine(
    ({ amount, unitAmount, quantity }) =>
      (amount === undefined) !== (unitAmount === undefined) &&
      (unitAmount === undefined) === (quantity === undefined),
    'Give either an amount, or a unitAmount with a quantity',
  )
  .refine(
    (line) => priceOfLine(line) >= 0.5 && priceOfLine(line) <= amountMinorMax,
    `The line must cost between 1 and ${amountMinorMax} minor units`,
  )

/** Returns the price of a line in minor units, before it is rounded. */
function priceOfLine({
  amount,
  unitAmount = 0,
  quantity = 0,
}: {
  amount?: number | undefined
  unitAmount?: number | undefined
  quantity?: number | undefined
}): number {
  return amount ?? unitAmount * quantity
}

export type RequestedLineBody = z.infer<typeof requestedLineSchema>

export const issueInvoiceSchema = z.object({
  customerRef: requiredReference,
  currency: currencyCode,
  lines: z
    .array(requestedLineSchema)
    .min(1)
    .max(listItemsMax)
    .refine((lines) => lines.reduce((sum, line) => sum + priceOfLine(line), 0) <= amountMinorMax, {
      error: `The lines must cost at most ${amountMinorMax} minor units`,
    }),
  /** When the invoice is to be paid and is charged. Without it, as soon as it is issued. */
  dueAt: storedInstantText.optional(),
  reason,
})

export const addInvoiceItemSchema = requestedLineSchema.and(
  z.object({ currency: currencyCode, reason }),
)

export const invoiceItemSchema = z.object({
  reference: z.string(),
  description: z.string(),
  currency: z.string(),
  /** Price of one unit in minor units. */
  unitAmount: amount,
  quantity: z.number(),
  /** The price of all units, rounded. */
  amount,
  reason: z.string(),
  /** Who added it, as in the audit log. */
  addedBy: z.string(),
  createdAt: z.string(),
})

export type InvoiceItemBody = z.infer<typeof invoiceItemSchema>

export const invoiceItemsSchema = z.object({ items: z.array(invoiceItemSchema) })

/** Results of a charge that was requested now. */
export const chargeResults = [
  'paid',
  'declined',
  'no_card',
  'processing',
  'held',
  'below_minimum',
  'nothing_due',
] as const

export const invoiceChargedSchema = z.object({
  result: z.enum(chargeResults),
  invoice: invoiceSchema,
})

export type InvoiceCharged = z.infer<typeof invoiceChargedSchema>
