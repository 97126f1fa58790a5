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
    description: 'The name of the request: that of the same header of the request, or a new one',
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
    BadRequest: refusal('BadRequest', 'The request broke its schema, or a rule', {
      anyOf: [validationErrorRef, errorRef],
    }),
    BadMcpRequest: refusal(
      'BadMcpRequest',
      'The request broke its schema, or a rule; `code` says which',
      {
        anyOf: [validationErrorRef, mcpErrorRef, errorRef],
      },
    ),
    Unauthorized: refusal(
      'Unauthorized',
      'The key or token is missing, unknown, revoked or expired',
      errorRef,
    ),
    Forbidden: refusal('Forbidden', 'The key or token is valid, and may not do this', errorRef),
    NotFound: refusal(
      'NotFound',
      'What the request names does not exist for the provider',
      errorRef,
    ),
    Conflict: refusal('Conflict', 'It contradicts what there is already', errorRef),
    CustomerUnsettled: refusal(
      'CustomerUnsettled',
      'The customer owes something, or has bought credits; or some of it cannot be charged now',
      { anyOf: [notSettledRef, notChargedRef, errorRef] },
    ),
    CustomerUncharged: refusal(
      'CustomerUncharged',
      'The card of the customer was declined, or there is none',
      notChargedRef,
    ),
    BodyTooLarge: refusal('BodyTooLarge', 'The body is larger than the service takes', errorRef),
    UnsupportedMediaType: refusal(
      'UnsupportedMediaType',
      'The body is not of the type that is expected',
      errorRef,
    ),
    BadGateway: refusal(
      'BadGateway',
      'A server that had to be asked gave no useful answer',
      errorRef,
    ),
    TooManyAttempts: retryable('TooManyAttempts', 'It was tried too often', errorRef),
    Unavailable: retryable('Unavailable', 'A part of the service is down or behind', errorRef),
  },
}

type Request = {
  readonly hasBody: boolean
  readonly hasParameters: boolean
  readonly needsKey: boolean
  /** Whether the 400 response names the violated rule of MCP products by a code. */
  readonly isMcp: boolean
}

const names = {
  401: 'Unauthorized',
  404: 'NotFound',
  409: 'Conflict',
  429: 'TooManyAttempts',
  502: 'BadGateway',
} as const

/** Returns the refusals of one operation by status: those that every operation has, and its own. */
export function refusalResponses(
  { hasBody, hasParameters, needsKey, isMcp }: Request,
  own: readonly (keyof typeof names | 'unsettled')[],
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
          : [[String(status), responseRef(names[status])]],
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
        description: 'Seconds after which to try again; missing where that would not help',
        schema: { type: 'integer', minimum: 0 },
      },
    },
  }
}

function refusal(name: RefusalName, description: string, schema: object): object {
  const json = { schema, ...examplesIn(errorExamples[name]) }
  return { description, headers: identifyingHeaders, content: { 'application/json': json } }
}
