import { z } from 'zod'
import { requestIdPattern } from './request-id.ts'

/* The error bodies of every operation. */

/** What every error has: fields that were added to the older ones, which stay as they are. */
export const errorIdentity = {
  code: z.string().describe('Stable; docs/errors.md lists all codes'),
  requestId: z
    .string()
    .regex(requestIdPattern)
    .describe('The same as in the X-Request-Id header of the response'),
}

export const errorSchema = z.object({
  statusCode: z.int(),
  error: z.string(),
  message: z.string(),
  ...errorIdentity,
})

export type ErrorBody = z.infer<typeof errorSchema>

/** The operations of MCP products tell their rules apart by a code. */
export const mcpErrorSchema = z.object({
  statusCode: z.int(),
  message: z.string(),
  ...errorIdentity,
})

export const validationIssueSchema = z.object({
  code: z.string(),
  path: z.array(z.union([z.string(), z.number()])),
  message: z.string(),
  expected: z.string().optional(),
  received: z.string().optional(),
})

/** One thing that is wrong with a request, as the client sees it. */
export type ValidationIssue = z.infer<typeof validationIssueSchema>

export const validationErrorSchema = z.object({
  statusCode: z.literal(400),
  error: z.literal('Bad Request'),
  message: z.literal('Validation failed'),
  errors: z.array(validationIssueSchema),
  timestamp: z.iso.datetime(),
  path: z.string(),
  ...errorIdentity,
})

export type ValidationErrorBody = z.infer<typeof validationErrorSchema>

/** The refusal of a live key whose provider is not live yet: the message is an object, which clients look into. */
export const keyMismatchBody = {
  statusCode: 403,
  error: 'Forbidden',
  message: { code: 'key_env_mismatch', keyEnvironment: 'live', providerEnvironment: 'sandbox' },
  code: 'key_env_mismatch',
} as const
