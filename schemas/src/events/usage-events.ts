import { z } from 'zod'
import { currency, minorUnits, reference, unixSeconds, type EventDefinition } from './event.ts'

const period = {
  periodStart: unixSeconds,
  periodEnd: unixSeconds.describe('Unix seconds, exclusive'),
}

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
