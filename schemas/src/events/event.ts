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

/* What describes a field stands on the page about events and in the API description. */

export const unixSeconds = z.int().nonnegative().describe('Unix seconds')

export const currency = z
  .string()
  .regex(/^[a-z]{3}$/)
  .describe('ISO 4217, in lower case')

export const minorUnits = z.int().describe('Minor units of `currency`')
