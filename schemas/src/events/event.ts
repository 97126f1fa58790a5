import { z } from 'zod'

/** One event type with the shape of its data. */
export type EventDefinition = {
  readonly description: string
  /** Schema of `data.object`. */
  readonly object: z.ZodObject
  /** Schema of `data.previous_attributes`, for the types that have it. */
  readonly previous?: z.ZodObject
}

export const reference = z.string().min(1)

/* The descriptions of fields appear in docs/events.md and in the API description. */

export const unixSeconds = z.int().nonnegative().describe('Unix seconds')

export const currency = z
  .string()
  .regex(/^[a-z]{3}$/)
  .describe('ISO 4217, in lower case')

export const minorUnits = z.int().describe('Minor units of `currency`')
