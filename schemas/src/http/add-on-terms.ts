import { z } from 'zod'
import { addOnUnitsMax } from '../limits.ts'
import { requiredReference } from './fields.ts'

/* Terms of add-ons, which purchases keep as they were when the add-ons were attached. */

/**
 * The number of a plan that an add-on raises. `limit` is the limit of the plan, or the cap of its charge of the meter. `included` is the
 * number of units that the price of the plan includes.
 */
export const addOnRaiseSchema = z.object({
  /** `requests` for a plan without charges; otherwise the meter of a charge. */
  meter: requiredReference,
  raises: z.enum(['limit', 'included']),
  units: z.int().min(1).max(addOnUnitsMax),
})

export type AddOnRaise = z.infer<typeof addOnRaiseSchema>

/** An add-on of a purchase, with the terms that it had when it was attached. */
export const attachedAddOnSchema = z.object({
  reference: z.string(),
  name: z.string(),
  quantity: z.int(),
  /** Price of one for a period, in minor units of the purchase's currency. */
  price: z.int(),
  /** What one unit of the quantity raises. */
  raises: z.array(addOnRaiseSchema),
})
