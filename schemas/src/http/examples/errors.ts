import { z } from 'zod'
import { errorCodes, type ErrorCode } from '../error-codes.ts'
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

const requestId = 'req_3f9c1d7ab2e44a17'

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
  code: 'validation_failed',
  requestId,
}

function refusal(code: ErrorCode, error: string, message: string): ErrorBody {
  return { statusCode: errorCodes[code].statuses[0]!, error, message, code, requestId }
}

const rule = refusal(
  'purchase_not_reactivable',
  'Bad Request',
  `Purchase ${refs.purchase} is not pending cancellation`,
)

function errors(values: Record<string, ErrorBody>): Examples {
  return examplesOf(errorSchema, values)
}

/** Examples by the name of the refusal in the API description. */
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
      requestId,
      message: 'Tool search names the plan key team, which no plan has',
    },
  }),
  Unauthorized: errors({
    'The key is unknown': refusal('invalid_key', 'Unauthorized', 'Invalid or expired secret key'),
  }),
  Forbidden: errors({
    'A scope is missing': refusal(
      'missing_scope',
      'Forbidden',
      'This key does not have the scope manage',
    ),
  }),
  NotFound: errors({
    'No such product': refusal(
      'product_not_found',
      'Not Found',
      `Product with reference ${refs.product} not found`,
    ),
  }),
  Conflict: errors({
    'An address that is taken': refusal(
      'email_taken',
      'Conflict',
      'Customer with identifier email ada@initech.example already exists',
    ),
  }),
  CustomerUnsettled: examplesOf(z.union([customerNotSettledSchema, customerNotChargedSchema]), {
    'Usage and credits are open': {
      statusCode: 409,
      error: 'Conflict',
      code: 'customer_not_settled',
      requestId,
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
      ...{ statusCode: 409, error: 'Conflict', code: 'customer_not_charged', requestId },
      message: 'The customer was not deleted: some of what it owes could not be charged',
      uncharged: [
        { invoiceRef: refs.invoice, amount: 1_900, currency: 'USD', reason: 'processing' },
      ],
    },
  }),
  CustomerUncharged: examplesOf(customerNotChargedSchema, {
    'The card was declined': {
      ...{ statusCode: 402, error: 'Payment Required', code: 'customer_not_charged', requestId },
      message: 'The customer was not deleted: some of what it owes could not be charged',
      uncharged: [{ invoiceRef: refs.invoice, amount: 1_900, currency: 'USD', reason: 'declined' }],
    },
  }),
  BodyTooLarge: errors({
    'More than 1 MiB': refusal(
      'body_too_large',
      'Payload Too Large',
      'The body must not be larger than 1048576 bytes',
    ),
  }),
  UnsupportedMediaType: errors({
    'No JSON': refusal(
      'unsupported_media_type',
      'Unsupported Media Type',
      'Send a JSON body with Content-Type: application/json',
    ),
  }),
  BadGateway: errors({
    'An MCP server that does not answer': refusal(
      'origin_unusable',
      'Bad Gateway',
      'The origin did not tell its tools. It did not answer in time',
    ),
  }),
  TooManyAttempts: errors({
    'Signing in, once more': refusal(
      'too_many_attempts',
      'Too Many Requests',
      'Too many attempts to sign in. Wait a while',
    ),
  }),
  Unavailable: errors({
    'For a moment': refusal(
      'unavailable',
      'Service Unavailable',
      'A part of the service is not available. Retry in a moment',
    ),
  }),
} as const
