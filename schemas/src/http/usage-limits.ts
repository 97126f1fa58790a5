import { z } from 'zod'
import { rollingSecondsMax, rollingSecondsMin, usageLimitsMax } from '../limits.ts'
import { positiveQuantity, requiredReference } from './fields.ts'
import { stableKey } from './charges.ts'

/* Limits of a plan in addition to the caps of its charges: any number per meter, and the tightest decides. */

/** Calendar windows are in UTC, and weeks begin on Monday. `period` is the billing period of the purchase. */
export const limitWindows = ['period', 'hour', 'day', 'week', 'month', 'rolling'] as const

const limitUnits = ['units', 'credits', 'money'] as const

export const usageLimitSchema = z
  .object({
    /** Stable name of the limit in the plan. Default: the name of the meter and the window. */
    key: stableKey.optional(),
    /** Name of the meter. */
    meter: requiredReference,
    /** Units, credits or minor units of the plan's currency that may be used in the window. */
    cap: positiveQuantity,
    /**
     * What `cap` counts; default: `units` of the meter. `credits` and `money` need a charge of the meter with the model `per_unit` or
     * `package`, and limit checks answer with the units that the amount pays for.
     */
    unit: z.enum(limitUnits).optional(),
    per: z.enum(limitWindows),
    /** Length of a rolling window. */
    rollingSeconds: z.int().min(rollingSecondsMin).max(rollingSecondsMax).optional(),
  })
  .refine(({ per, rollingSeconds }) => (per === 'rolling') === (rollingSeconds !== undefined), {
    error: 'Exactly rolling windows have `rollingSeconds`',
    path: ['rollingSeconds'],
  })

export type UsageLimit = z.infer<typeof usageLimitSchema>

/** An update with an empty list removes the limits. */
export const usageLimitsSchema = z.array(usageLimitSchema).max(usageLimitsMax)
