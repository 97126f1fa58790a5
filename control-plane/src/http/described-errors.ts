import { errorSchema, mcpErrorSchema, validationErrorSchema } from '@tollgate/schemas/http/errors'
import { describedSchema } from './described-schema.ts'

const errorRef = { $ref: '#/components/schemas/Error' }
const validationErrorRef = { $ref: '#/components/schemas/ValidationError' }
const mcpErrorRef = { $ref: '#/components/schemas/McpError' }

/** The bodies of refusals, and the responses that carry them: the same for every operation that makes them. */
export const errorComponents = {
  schemas: {
    Error: describedSchema(errorSchema, 'output'),
    ValidationError: describedSchema(validationErrorSchema, 'output'),
    McpError: describedSchema(mcpErrorSchema, 'output'),
  },
  responses: {
    BadRequest: refusal('The request broke its schema, or a rule', {
      anyOf: [validationErrorRef, errorRef],
    }),
    BadMcpRequest: refusal('The request broke its schema, or a rule; `code` says which', {
      anyOf: [validationErrorRef, mcpErrorRef, errorRef],
    }),
    Unauthorized: refusal('The key or token is missing, unknown, revoked or expired', errorRef),
    Forbidden: refusal('The key or token is valid, and may not do this', errorRef),
    NotFound: refusal('What the request names does not exist for the provider', errorRef),
    Conflict: refusal('It contradicts what there is already', errorRef),
    BodyTooLarge: refusal('The body is larger than the service takes', errorRef),
    UnsupportedMediaType: refusal('The body is not of the type that is expected', errorRef),
    BadGateway: refusal('A server that had to be asked gave no useful answer', errorRef),
    TooManyAttempts: retryable('It was tried too often', errorRef),
    Unavailable: retryable('A part of the service is down or behind', errorRef),
  },
}

type Request = {
  readonly hasBody: boolean
  readonly hasParameters: boolean
  readonly needsKey: boolean
  /** Its rules are told apart by a code. */
  readonly isMcp: boolean
}

const names = {
  401: 'Unauthorized',
  404: 'NotFound',
  409: 'Conflict',
  429: 'TooManyAttempts',
  502: 'BadGateway',
} as const

/** The refusals of one operation by status: those that every request can meet, and its own. */
export function refusalResponses(
  { hasBody, hasParameters, needsKey, isMcp }: Request,
  own: readonly (keyof typeof names)[],
): Record<string, { $ref: string }> {
  return {
    ...(hasBody || hasParameters
      ? { '400': responseRef(isMcp ? 'BadMcpRequest' : 'BadRequest') }
      : {}),
    ...(needsKey ? { '401': responseRef('Unauthorized'), '403': responseRef('Forbidden') } : {}),
    ...Object.fromEntries(own.map((status) => [String(status), responseRef(names[status])])),
    ...(hasBody
      ? { '413': responseRef('BodyTooLarge'), '415': responseRef('UnsupportedMediaType') }
      : {}),
    '503': responseRef('Unavailable'),
  }
}

function responseRef(name: keyof (typeof errorComponents)['responses']): { $ref: string } {
  return { $ref: `#/components/responses/${name}` }
}

function retryable(description: string, schema: object): object {
  return {
    ...refusal(description, schema),
    headers: {
      'Retry-After': {
        description: 'Seconds after which to try again; missing where that would not help',
        schema: { type: 'integer', minimum: 0 },
      },
    },
  }
}

function refusal(description: string, schema: object): object {
  return { description, content: { 'application/json': { schema } } }
}
