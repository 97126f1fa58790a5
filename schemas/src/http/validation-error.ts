import type { z } from 'zod'
import { reportedIssuesMax } from '../limits.ts'
import type { ErrorCode } from './error-codes.ts'
import type { ValidationErrorBody, ValidationIssue } from './errors.ts'

/**
 * Returns the body of a 400 response to a request that does not match its schema. `path` is the path of the request including
 * `/v1`. The sender adds the request id.
 */
export function validationErrorBody(
  issues: readonly ValidationIssue[],
  path: string,
  nowIso: string,
  code: ErrorCode = 'validation_failed',
): Omit<ValidationErrorBody, 'requestId'> {
  return {
    statusCode: 400,
    error: 'Bad Request',
    message: 'Validation failed',
    errors: issues.slice(0, reportedIssuesMax),
    timestamp: nowIso,
    path,
    code,
  }
}

/**
 * Converts zod's issues to the form that clients know. `input` is the parsed value, since zod does not report received values. This
 * runs on the error path only.
 */
export function validationIssues(error: z.ZodError, input: unknown): ValidationIssue[] {
  return error.issues.slice(0, reportedIssuesMax).map((issue) => fromZodIssue(issue, input))
}

function fromZodIssue(issue: z.core.$ZodIssue, input: unknown): ValidationIssue {
  const path = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key))
  const value = valueAt(input, path)
  const isMissing = value === undefined && issue.code !== 'custom'
  const message = isMissing ? 'Required' : issue.message
  const expected = expectedOf(issue)
  return {
    code: issue.code,
    path,
    message,
    ...(expected === undefined ? {} : { expected, received: receivedOf(issue, value) }),
  }
}

function expectedOf(issue: z.core.$ZodIssue): string | undefined {
  if (issue.code === 'invalid_type') return issue.expected
  if (issue.code === 'invalid_value')
    return issue.values.map((value) => `'${String(value)}'`).join(' | ')
  return undefined
}

function receivedOf(issue: z.core.$ZodIssue, value: unknown): string {
  // For a choice, the received value is reported. The bound keeps a long hostile value out of the response.
  if (issue.code === 'invalid_value' && typeof value === 'string') return value.slice(0, 64)
  return typeNameOf(value)
}

function typeNameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value !== 'number') return typeof value
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return 'infinity'
  return Number.isInteger(value) ? 'integer' : 'float'
}

function valueAt(input: unknown, path: readonly (string | number)[]): unknown {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string | number, unknown>)[key]
  }
  return value
}
