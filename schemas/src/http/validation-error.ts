import type { z } from 'zod'
import { reportedIssuesMax } from '../limits.ts'
import type { ErrorCode } from './error-codes.ts'
import type { ValidationErrorBody, ValidationIssue } from './errors.ts'

/**
 * The 400 body for a request that broke its schema. `path` is the request's own path, with `/v1`. Whoever sends it adds the
 * id of the request.
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
 * Zod's issues in the shape that clients know. `input` is what was parsed: zod no longer says what it received, and
 * this runs on the error path only.
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
  // A choice shows what was chosen; the bound keeps a hostile value from coming back whole.
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
