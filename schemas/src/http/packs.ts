import { z } from 'zod'
import { positiveQuantity, requiredReference } from './fields.ts'

/* A pack is a one-time plan whose units are used beside the running plan of the same product. */

export const packSchema = z.object({
  /** Name of the meter whose units the pack has. Default: `requests`. */
  meter: requiredReference.optional(),
  units: positiveQuantity,
})

export type Pack = z.infer<typeof packSchema>

/** Units of one meter that packs leave, as responses show them. */
export const packUnitsSchema = z.object({
  meterName: z.string(),
  /** Units that the plan of the running purchase leaves. Absent for any number. */
  planRemaining: z.number().optional(),
  /** Units that the customer's packs leave. */
  packRemaining: z.number(),
})

export type PackUnitsBody = z.infer<typeof packUnitsSchema>
