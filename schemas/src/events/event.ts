import { z } from 'zod'

/** One type of event, with the shape of what it tells. */
export type EventDefinition = {
  readonly description: string
  /** `data.object`. */
  readonly object: z.ZodObject
  /** `data.previous_attributes`, of the few types that have any. */
  readonly previous?: z.ZodObject
}

export const reference = z.string().min(1)

/** Whole seconds since 1970. */
export const unixSeconds = z.int().nonnegative()

/** ISO 4217, in lower case. */
export const currency = z.string().regex(/^[a-z]{3}$/)

/** Of the currency beside it. */
export const minorUnits = z.int()
