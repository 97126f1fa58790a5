import type { FastifySchemaCompiler } from 'fastify'
import type { z } from 'zod'
import { validationIssues } from '@tollgate/schemas/http/validation-error'
import { InvalidRequestError } from '../../errors.ts'

/** Validates parts of the request with their zod schemas and converts failures into issues of the wire contract. */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (input: unknown) => {
    const parsed = schema.safeParse(input)
    return parsed.success
      ? { value: parsed.data }
      : { error: new InvalidRequestError(validationIssues(parsed.error, input)) }
  }
