import { z } from 'zod'
import { currency, minorUnits, reference, unixSeconds, type EventDefinition } from './event.ts'

const period = {
  periodStart: unixSeconds,
  periodEnd: unixSeconds.describe('Unix seconds, exclusive'),
}

/** Fields of an alert. Percent are of a limit or budget, and amounts are in `unit`. */
const reached = z.strictObject({
  alert: reference.nullable().describe('Reference of the alert. Null for a budget'),
  watches: z
    .enum(['limit', 'wallet', 'spend', 'budget'])
    .describe(
      'A limit of a plan, a wallet, the cost of usage in a period, or a budget of the customer',
    ),
  customer: reference,
  product: reference.nullable().describe('Null for a wallet, which pays for all products'),
  purchase: reference.nullable(),
  limit: z.string().nullable().describe('Key of the charge or limit. Null if no limit is watched'),
  meterName: z.string().nullable(),
  percent: z.number().nullable().describe('The threshold in percent. Null if it is an amount'),
  threshold: z.number().describe('The threshold in `unit`'),
  value: z.number().describe('Usage, balance or cost when the threshold was found reached'),
  whole: z.number().nullable().describe('The whole limit or budget. Null if there is none'),
  unit: z.enum(['units', 'credits', 'minor']).describe('`minor` are minor units of `currency`'),
  currency: currency.nullable(),
  periodStart: unixSeconds
    .nullable()
    .describe('Start of the period or window in Unix seconds. Null for a wallet'),
  periodEnd: unixSeconds.nullable().describe('Exclusive. Null for a wallet and for no end'),
  created: unixSeconds,
})

export const usageEvents = {
  'usage.charged': {
    description: 'Usage of a period was charged',
    object: z.strictObject({
      reference: reference.describe('Reference of the invoice'),
      customer: reference,
      product: reference,
      purchase: reference,
      quantity: z.number(),
      amount: minorUnits,
      currency,
      meterName: z.string(),
      charge: z
        .string()
        .optional()
        .describe('Key of the charge of the plan. Absent for plans without charges'),
      ...period,
      created: unixSeconds,
    }),
  },
  'usage.recorded': {
    description: 'Usage was recorded',
    object: z.strictObject({
      reference: reference.describe('Reference of the usage record'),
      customer: z
        .string()
        .describe(
          'Reference of the customer. If the customer is not known yet, the reference of the call',
        ),
      product: reference.nullable().describe('Null if the record names no product'),
      purchase: reference
        .nullable()
        .describe('Purchase of the product at the time of the usage. Null if there was none'),
      quantity: z.number(),
      meterName: z.string(),
      recordedAt: unixSeconds.describe('Time of the usage in Unix seconds'),
    }),
  },
  'usage.threshold_reached': {
    description: 'A threshold of an alert was reached',
    object: reached,
  },
  'usage.limit_reached': {
    description:
      'A limit with an alert, a budget, or the last credit of a wallet with an alert was used up',
    object: reached,
  },
  'usage.reset': {
    description: 'A new usage period started at zero',
    object: z.strictObject({
      id: reference,
      reference,
      customer: reference,
      product: reference,
      purchase: reference,
      ...period,
      carriedOverUnits: z.number().describe('Units that rolled over from the previous period'),
      created: unixSeconds,
    }),
  },
} as const satisfies Record<string, EventDefinition>
