import { z } from 'zod'
import { customerNotChargedSchema, customerNotSettledSchema } from '../customers.ts'
import {
  errorSchema,
  mcpErrorSchema,
  validationErrorSchema,
  type ErrorBody,
  type ValidationErrorBody,
} from '../errors.ts'
import { examplesOf, type Examples } from './example.ts'
import { instants, refs } from './story.ts'

const invalid: ValidationErrorBody = {
  statusCode: 400,
  error: 'Bad Request',
  message: 'Validation failed',
  errors: [
    {
      code: 'invalid_type',
      path: ['customerRef'],
      message: 'Required',
      expected: 'string',
      received: 'undefined',
    },
  ],
  timestamp: instants.now,
  path: '/v1/sdk/limits',
}

const refusal = (statusCode: number, error: string, message: string): ErrorBody => ({
  statusCode,
  error,
  message,
})

const rule = refusal(400, 'Bad Request', `Purchase ${refs.purchase} is not pending cancellation`)

function errors(values: Record<string, ErrorBody>): Examples {
  return examplesOf(errorSchema, values)
}

/** By the name that the refusal has in the API description. */
export const errorExamples = {
  BadRequest: examplesOf(z.union([validationErrorSchema, errorSchema]), {
    'A field is missing': invalid,
    'A rule is broken': rule,
  }),
  BadMcpRequest: examplesOf(z.union([validationErrorSchema, mcpErrorSchema]), {
    'A field is missing': { ...invalid, path: '/v1/sdk/products/mcp/bootstrap' },
    'A rule is broken': {
      statusCode: 400,
      code: 'UNKNOWN_PLAN_KEY',
      message: 'Tool search names the plan key team, which no plan has',
    },
  }),
  Unauthorized: errors({
    'The key is none': refusal(401, 'Unauthorized', 'Invalid or expired secret key'),
  }),
  Forbidden: errors({
    'A scope is missing': refusal(403, 'Forbidden', 'This key does not have the scope manage'),
  }),
  NotFound: errors({
    'No such product': refusal(
      404,
      'Not Found',
      `Product with reference ${refs.product} not found`,
    ),
  }),
  Conflict: errors({
    'An address that is taken': refusal(
      409,
      'Conflict',
      'Customer with identifier email ada@initech.example already exists',
    ),
  }),
  CustomerUnsettled: examplesOf(z.union([customerNotSettledSchema, customerNotChargedSchema]), {
    'Usage and credits are open': {
      statusCode: 409,
      error: 'Conflict',
      code: 'customer_not_settled',
      message: 'The customer has open invoices, unbilled usage or bought credits',
      open: {
        amounts: [
          {
            ...{ currency: 'USD', openInvoices: 1_900, carried: 0 },
            ...{ unbilledUsage: 440, boughtCredits: 500 },
          },
        ],
        invoices: [refs.invoice],
        boughtCredits: 50_000,
      },
    },
    'A payment is under way': {
      ...{ statusCode: 409, error: 'Conflict', code: 'customer_not_charged' },
      message: 'The customer was not deleted: some of what it owes could not be charged',
      uncharged: [
        { invoiceRef: refs.invoice, amount: 1_900, currency: 'USD', reason: 'processing' },
      ],
    },
  }),
  CustomerUncharged: examplesOf(customerNotChargedSchema, {
    'The card was declined': {
      ...{ statusCode: 402, error: 'Payment Required', code: 'customer_not_charged' },
      message: 'The customer was not deleted: some of what it owes could not be charged',
      uncharged: [{ invoiceRef: refs.invoice, amount: 1_900, currency: 'USD', reason: 'declined' }],
    },
  }),
  BodyTooLarge: errors({
    'More than 1 MiB': refusal(
      413,
      'Payload Too Large',
      'The body must not be larger than 1048576 bytes',
    ),
  }),
  UnsupportedMediaType: errors({
    'No JSON': refusal(
      415,
      'Unsupported Media Type',
      'Send a JSON body with Content-Type: application/json',
    ),
  }),
  BadGateway: errors({
    'An MCP server that does not answer': refusal(
      502,
      'Bad Gateway',
      'The origin did not tell its tools. It did not answer in time',
    ),
  }),
  TooManyAttempts: errors({
    'Signing in, once more': refusal(
      429,
      'Too Many Requests',
      'Too many attempts to sign in. Wait a while',
    ),
  }),
  Unavailable: errors({
    'For a moment': refusal(
      503,
      'Service Unavailable',
      'A part of the service is not available. Retry in a moment',
    ),
  }),
} as const
