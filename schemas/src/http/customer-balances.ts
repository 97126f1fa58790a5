import { z } from 'zod'
import { amountMinorMax } from '../limits.ts'
import { currencyCode, longText } from './fields.ts'

/* Schemas of `/v1/ui/customers/{reference}/invoice-balance`: what the next invoices of a customer take over, in each currency. */

/** In minor units of the currency. Positive for a credit of the customer, negative for what the next invoice adds. */
const amount = z.int()

const balanceEntrySchema = z.object({
  /** Reference of the posting in the ledger. */
  reference: z.string(),
  /** What changed the balance, as in the ledger: `credit_note`, `invoice_issued`, `invoice_carried` and others. */
  kind: z.string(),
  currency: z.string(),
  amount,
  invoiceRef: z.string().optional(),
  createdAt: z.string(),
})

export const customerBalanceSchema = z.object({
  /** Currencies without a balance are missing. */
  balances: z.array(
    z.object({
      currency: z.string(),
      amount,
      /** The amount as text to display. */
      formattedAmount: z.string(),
      /** The part of a credit that is kept for payments that are open. Invoices and payouts do not use it. */
      held: z.int(),
    }),
  ),
  /** Changes of the balances, newest first. */
  entries: z.array(balanceEntrySchema),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
})

export type CustomerBalanceBody = z.infer<typeof customerBalanceSchema>

export const payoutTargets = ['card', 'other'] as const

export const payOutBalanceSchema = z.object({
  reason: longText.min(1),
  currency: currencyCode,
  /** `card`: refunds of past card payments. `other`: the provider has paid it by other means. */
  to: z.enum(payoutTargets),
  /** In minor units. Without it, the whole credit, or as much of it as the cards take. */
  amount: z.int().min(1).max(amountMinorMax).optional(),
})

export const balancePayoutSchema = z.object({
  reference: z.string(),
  customerRef: z.string(),
  currency: z.string(),
  amount: z.int(),
  to: z.enum(payoutTargets),
  reason: z.string(),
  /** Who decided, as in the audit log. */
  decidedBy: z.string(),
  /** The refunds that pay it out. What a `refused` one does not pay is in the balance again. */
  refunds: z.array(
    z.object({
      reference: z.string(),
      amount: z.int(),
      status: z.enum(['pending', 'done', 'refused']),
      /** Id at the payment processor. Missing until the processor has confirmed the refund. */
      processorRefund: z.string().optional(),
    }),
  ),
  createdAt: z.string(),
})

export type BalancePayoutBody = z.infer<typeof balancePayoutSchema>
