import type { z } from 'zod'

/** Values that the schema accepts, each under a title. */
export type Examples = {
  readonly schema: z.ZodType
  readonly values: Readonly<Record<string, unknown>>
}

export function examplesOf<Schema extends z.ZodType>(
  schema: Schema,
  values: Readonly<Record<string, z.input<Schema>>>,
): Examples {
  return { schema, values }
}

/** Request and successful response of an operation. */
export type OperationExamples = {
  readonly body?: Examples
  readonly answer: Examples
}
