import { z } from 'zod'
import { dateOrInstant } from './fields.ts'

/* Schemas of `GET /v1/ui/customers/{reference}/margin`. */

/** The range is half-open: [from, to). */
export const marginQuerySchema = z.object({ from: dateOrInstant, to: dateOrInstant })

/** US dollars as decimal text with at most 12 decimals. */
const dollars = z.string()

export const marginSchema = z.object({
  customerRef: z.string(),
  from: z.string(),
  to: z.string(),
  /** What calls of models cost in the range, over all meters of model costs and whatever the outcome of the calls. */
  cost: dollars,
  /** Calls whose model had no price. They are missing in the cost. */
  unpricedCalls: z.int(),
  /** Credits that usage of the range debited, as decimal text. */
  debitedCredits: z.string(),
  /** Lines of issued invoices for times that begin in the range, without tax, in minor units of each currency. */
  invoiced: z.array(z.object({ currency: z.string(), amount: z.int() })),
  /** Debited credits and invoices less the cost. Absent if an invoice has another currency than US dollars. */
  margin: dollars.optional(),
})

export type MarginBody = z.infer<typeof marginSchema>
