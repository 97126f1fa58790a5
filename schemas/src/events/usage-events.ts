import { z } from 'zod'
import { currency, minorUnits, reference, unixSeconds, type EventDefinition } from './event.ts'

/** From `periodStart` on, up to `periodEnd`. */
const period = { periodStart: unixSeconds, periodEnd: unixSeconds }

export const usageEvents = {
  'usage.charged': {
    description: 'Usage of a period was charged',
    object: z.strictObject({
      /** The invoice that it stands on. */
      reference,
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
      /** The usage record. */
      reference,
      /** As the call named it, where nobody is known by that name yet. */
      customer: z.string(),
      /** Null, like the purchase: the record names none. */
      product: reference.nullable(),
      purchase: reference.nullable(),
      quantity: z.number(),
      meterName: z.string(),
      /** When it was used. */
      recordedAt: unixSeconds,
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
      carriedOverUnits: z.number(),
      created: unixSeconds,
    }),
  },
} as const satisfies Record<string, EventDefinition>
