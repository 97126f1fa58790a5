import { z } from 'zod'
import { requiredReference, storedInstantText } from './fields.ts'

/* Changes of plan that a purchase makes later. */

/**
 * How a change within a period is billed. `prorate`: the difference for the rest of the period, as if the customer changed then.
 * `keep_period`: nothing until the next renewal.
 */
export const changeBillings = ['prorate', 'keep_period'] as const

export type ChangeBilling = (typeof changeBillings)[number]

export const scheduledChangeSchema = z
  .object({
    /** Another plan of the product, or the plan of the purchase with its current terms. */
    planRef: requiredReference,
    /** When the change takes effect, within the period that runs then. Absent: with the next renewal. */
    effectiveAt: storedInstantText.optional(),
    /** Only with `effectiveAt`. */
    billing: z.enum(changeBillings).optional(),
  })
  .refine(({ effectiveAt, billing }) => effectiveAt !== undefined || billing === undefined, {
    error:
      'A change with a renewal is billed by the renewal: leave out `billing`, or give `effectiveAt`',
    path: ['billing'],
  })

export type ScheduledChangeInput = z.infer<typeof scheduledChangeSchema>
