import { z } from 'zod'
import { usageOverTimeSchema } from './console-usage.ts'
import { timeZoneName } from './fields.ts'
import { purchaseStatuses } from './purchases.ts'

/* Schemas of `/v1/ui/overview`: what the console's Home shows. */

export const overviewQuerySchema = z.object({
  /** The time zone whose days are shown. Default: UTC. An hour of UTC belongs to the day in which it begins. */
  timeZone: timeZoneName.optional(),
})

const revenue = z.object({
  currency: z.string(),
  /** Payments that succeeded, and invoices paid by other means. Minor units, with tax. */
  paid: z.int(),
  /** Refunds that succeeded, by the day of their request, and balances that were paid out. */
  refunded: z.int(),
  /** Disputed payments that are not won, by the day of the dispute. */
  disputed: z.int(),
  /** `paid` less `refunded` and `disputed`. */
  net: z.int(),
})

const numbers = {
  /** Recorded events, whatever their outcome. Missing while stored usage cannot be read. */
  events: z.int().optional(),
  /** Customers with usage that counts. Missing while stored usage cannot be read. */
  activeCustomers: z.int().optional(),
  /** Credits that wallets paid for usage, as decimal text. Missing while stored usage cannot be read. */
  creditsUsed: z.string().optional(),
  /** Credits that were bought, less those of refunded and disputed payments, as decimal text. */
  creditsSold: z.string(),
  /** By currency. Currencies without money are left out. */
  revenue: z.array(revenue),
}

const money = { currency: z.string(), amount: z.int() }

export const overviewSchema = z.object({
  customers: z.int(),
  products: z.int(),
  purchases: z.record(z.enum(purchaseStatuses), z.int()),
  /** Usage of the last 30 days by day (UTC). Missing while it cannot be read. */
  usage: usageOverTimeSchema.optional(),
  timeZone: z.string(),
  /** The last 30 days of the time zone, of which the last one is today. */
  days: z.array(z.object({ date: z.iso.date(), start: z.string(), end: z.string(), ...numbers })),
  /** The same for all days together. */
  total: z.object(numbers),
  /** Monthly recurring revenue by currency: see `docs/console-data.md`. */
  mrr: z.array(z.object({ ...money, purchases: z.int() })),
  /** False if so many customers have prices of their own that some of them are counted by their plans' prices. */
  mrrIsExact: z.boolean(),
  /** Customers who reached a threshold of an alert on a limit in a running period, the newest first. */
  nearLimits: z.array(
    z.object({
      customerRef: z.string(),
      customerEmail: z.string().optional(),
      productRef: z.string().optional(),
      purchaseRef: z.string().optional(),
      limit: z.string().optional(),
      /** Usage when the threshold was found reached, and the whole limit. */
      value: z.number(),
      whole: z.number().optional(),
      reachedAt: z.string(),
    }),
  ),
  /** False if there is no alert on limits, so that `nearLimits` is always empty. */
  hasLimitAlert: z.boolean(),
  /** Open invoices whose last charge failed. */
  failedPayments: z.object({
    total: z.int(),
    newest: z.array(
      z.object({
        invoiceRef: z.string(),
        customerRef: z.string(),
        ...money,
        failedCharges: z.int(),
        failedAt: z.string(),
        /** Missing if it is not charged again automatically. */
        nextChargeAt: z.string().optional(),
      }),
    ),
  }),
  /** Webhook endpoints that Tollgate has disabled, or whose last attempts failed. */
  failingEndpoints: z.array(
    z.object({
      reference: z.string(),
      status: z.enum(['enabled', 'disabled']),
      failedAttempts: z.int(),
      since: z.string().optional(),
    }),
  ),
  /** Age of the oldest record that is not in stored usage yet, in seconds. Missing if it cannot be read. */
  secondsBehind: z.number().optional(),
})

export type OverviewBody = z.infer<typeof overviewSchema>
