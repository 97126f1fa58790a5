import type { z } from 'zod'

/** Values that the schema takes, each under what it shows. */
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

/** What an operation may be sent, where it takes a body, and what it answers when all goes well. */
export type OperationExamples = {
  readonly body?: Examples
  readonly answer: Examples
}
