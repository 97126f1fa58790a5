import { z } from 'zod'
import { currency, minorUnits, reference, unixSeconds, type EventDefinition } from './event.ts'

const period = {
  periodStart: unixSeconds,
  periodEnd: unixSeconds.describe('Unix seconds; not part of the period'),
}

export const usageEvents = {
  'usage.charged': {
    description: 'Usage of a period was charged',
    object: z.strictObject({
      reference: reference.describe('The invoice that it stands on'),
      customer: reference,
      product: reference,
      purchase: reference,
      quantity: z.number(),
      amount: minorUnits,
      currency,
      meterName: z.string(),
      ...period,
      created: unixSeconds,
    }),
  },
  'usage.recorded': {
    description: 'Usage was recorded',
    object: z.strictObject({
      reference: reference.describe('The usage record'),
      customer: z.string().describe('As the call named it, where nobody is known by that name yet'),
      product: reference.nullable().describe('Null: the record names none'),
      purchase: reference
        .nullable()
        .describe('What the customer held of the product when it was used; null: nothing'),
      quantity: z.number(),
      meterName: z.string(),
      recordedAt: unixSeconds.describe('Unix seconds: when it was used'),
    }),
  },
  'usage.reset': {
    description: 'A new period began to count from zero',
    object: z.strictObject({
      id: reference,
      reference,
      customer: reference,
      product: reference,
      purchase: reference,
      ...period,
      carriedOverUnits: z.number().describe('Units that the period before left'),
      created: unixSeconds,
    }),
  },
} as const satisfies Record<string, EventDefinition>
