import type { FastifySchemaCompiler } from 'fastify'
import type { z } from 'zod'
import { validationIssues } from '@tollgate/schemas/http/validation-error'
import { InvalidRequestError } from '../../errors.ts'

/** Hands the request's parts to their zod schemas and keeps what went wrong in the words of the wire contract. */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (input: unknown) => {
    const parsed = schema.safeParse(input)
    return parsed.success
      ? { value: parsed.data }
      : { error: new InvalidRequestError(validationIssues(parsed.error, input)) }
  }
