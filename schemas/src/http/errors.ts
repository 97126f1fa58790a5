import { z } from 'zod'
import { requestIdPattern } from './request-id.ts'

/* Schemas of the error bodies of all operations. */

/** Fields of every error. They were added to the older fields, which stay unchanged. */
export const errorIdentity = {
  code: z.string().describe('Stable code; docs/errors.md lists all codes'),
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

/** Errors of operations on MCP products. */
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

/** One fault of a request, as the client sees it. */
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

/** Body of the refusal of a live key whose provider is not live yet. The message is an object that clients parse. */
export const keyMismatchBody = {
  statusCode: 403,
  error: 'Forbidden',
  message: { code: 'key_env_mismatch', keyEnvironment: 'live', providerEnvironment: 'sandbox' },
  code: 'key_env_mismatch',
} as const
