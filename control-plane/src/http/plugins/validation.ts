import type { FastifySchemaCompiler } from 'fastify'
import type { z } from 'zod'
import type { ErrorCode } from '@tollgate/schemas/http/error-codes'
import { validationIssues } from '@tollgate/schemas/http/validation-error'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'

/** The request broke its schema, or is strict and has a name that the operation does not know. */
export class InvalidRequestError extends Error {
  override readonly name = 'InvalidRequestError'
  readonly issues: readonly ValidationIssue[]
  readonly code: ErrorCode
  /** Which part of the request it is about, where fastify validated one. */
  readonly validationContext?: string

  constructor(issues: readonly ValidationIssue[], code: ErrorCode = 'validation_failed') {
    super('Validation failed')
    this.issues = issues
    this.code = code
  }
}

/** Hands the request's parts to their zod schemas and keeps what went wrong in the words of the wire contract. */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (input: unknown) => {
    const parsed = schema.safeParse(input)
    return parsed.success
      ? { value: parsed.data }
      : { error: new InvalidRequestError(validationIssues(parsed.error, input)) }
  }
