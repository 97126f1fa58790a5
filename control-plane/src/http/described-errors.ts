import { errorSchema, mcpErrorSchema, validationErrorSchema } from '@tollgate/schemas/http/errors'
import {
  customerNotChargedSchema,
  customerNotSettledSchema,
} from '@tollgate/schemas/http/customers'
import { errorExamples } from '@tollgate/schemas/http/examples/errors'
import { describedSchema } from './described-schema.ts'
import { examplesIn } from './with-examples.ts'

const errorRef = { $ref: '#/components/schemas/Error' }
const validationErrorRef = { $ref: '#/components/schemas/ValidationError' }
const notSettledRef = { $ref: '#/components/schemas/CustomerNotSettled' }
const notChargedRef = { $ref: '#/components/schemas/CustomerNotCharged' }
const mcpErrorRef = { $ref: '#/components/schemas/McpError' }

const identifyingHeaders = {
  'X-Request-Id': {
    description: 'Id of the request, from the same request header or newly created',
    schema: { type: 'string' },
  },
}

/** The bodies of refusals and the responses that contain them. All operations with such a refusal share them. */
export const errorComponents = {
  schemas: {
    Error: describedSchema(errorSchema, 'output'),
    ValidationError: describedSchema(validationErrorSchema, 'output'),
    McpError: describedSchema(mcpErrorSchema, 'output'),
    CustomerNotSettled: describedSchema(customerNotSettledSchema, 'output'),
    CustomerNotCharged: describedSchema(customerNotChargedSchema, 'output'),
  },
  responses: {
    BadRequest: refusal('BadRequest', 'The request does not match its schema, or violates a rule', {
      anyOf: [validationErrorRef, errorRef],
    }),
    BadMcpRequest: refusal(
      'BadMcpRequest',
      'The request does not match its schema, or violates the rule that `code` names',
      {
        anyOf: [validationErrorRef, mcpErrorRef, errorRef],
      },
    ),
    Unauthorized: refusal(
      'Unauthorized',
      'The key or token is missing, unknown, revoked or expired',
      errorRef,
    ),
    Forbidden: refusal('Forbidden', 'The key or token is valid but may not do this', errorRef),
    NotFound: refusal(
      'NotFound',
      'An object that the request names does not exist for the provider',
      errorRef,
    ),
    Conflict: refusal('Conflict', 'The request conflicts with existing data', errorRef),
    CustomerUnsettled: refusal(
      'CustomerUnsettled',
      'The customer has open amounts or bought credits, or an amount cannot be charged now',
      { anyOf: [notSettledRef, notChargedRef, errorRef] },
    ),
    CustomerUncharged: refusal(
      'CustomerUncharged',
      'The customer has no card, or the card was declined',
      notChargedRef,
    ),
    BodyTooLarge: refusal('BodyTooLarge', 'The body is too large', errorRef),
    UnsupportedMediaType: refusal(
      'UnsupportedMediaType',
      'The body has an unexpected content type',
      errorRef,
    ),
    BadGateway: refusal(
      'BadGateway',
      'Another server did not respond, or its response was not usable',
      errorRef,
    ),
    TooManyAttempts: retryable('TooManyAttempts', 'Too many attempts', errorRef),
    Unavailable: retryable(
      'Unavailable',
      'A part of the service is unavailable or has a backlog',
      errorRef,
    ),
  },
}

type Request = {
  readonly hasBody: boolean
  readonly hasParameters: boolean
  readonly needsKey: boolean
  /** Whether the 400 response names the violated rule of MCP products by a code. */
  readonly isMcp: boolean
}

const componentNames = {
  401: 'Unauthorized',
  404: 'NotFound',
  409: 'Conflict',
  429: 'TooManyAttempts',
  502: 'BadGateway',
} as const

/** Returns the refusals of one operation by status: those that every operation has, and its own. */
export function refusalResponses(
  { hasBody, hasParameters, needsKey, isMcp }: Request,
  own: readonly (keyof typeof componentNames | 'unsettled')[],
): Record<string, { $ref: string }> {
  return {
    ...(hasBody || hasParameters
      ? { '400': responseRef(isMcp ? 'BadMcpRequest' : 'BadRequest') }
      : {}),
    ...(needsKey ? { '401': responseRef('Unauthorized'), '403': responseRef('Forbidden') } : {}),
    ...Object.fromEntries(
      own.flatMap((status) =>
        status === 'unsettled'
          ? [
              ['402', responseRef('CustomerUncharged')],
              ['409', responseRef('CustomerUnsettled')],
            ]
          : [[String(status), responseRef(componentNames[status])]],
      ),
    ),
    ...(hasBody
      ? { '413': responseRef('BodyTooLarge'), '415': responseRef('UnsupportedMediaType') }
      : {}),
    '503': responseRef('Unavailable'),
  }
}

function responseRef(name: keyof (typeof errorComponents)['responses']): { $ref: string } {
  return { $ref: `#/components/responses/${name}` }
}

type RefusalName = keyof typeof errorExamples

function retryable(name: RefusalName, description: string, schema: object): object {
  return {
    ...refusal(name, description, schema),
    headers: {
      ...identifyingHeaders,
      'Retry-After': {
        description: 'Seconds to wait before a retry; missing if a retry would not help',
        schema: { type: 'integer', minimum: 0 },
      },
    },
  }
}

function refusal(name: RefusalName, description: string, schema: object): object {
  const json = { schema, ...examplesIn(errorExamples[name]) }
  return { description, headers: identifyingHeaders, content: { 'application/json': json } }
}
