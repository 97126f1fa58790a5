import { describedFiles, describedResponses, describedRequestBodies } from './described-bodies.ts'
import { refusalResponses } from './described-errors.ts'
import {
  describedOperations,
  idempotentOperations,
  oauthOperations,
} from './described-operations.ts'
import { operationDescriptions } from './operation-descriptions/operation-descriptions.ts'
import { withExamples, type ExampledOperation } from './with-examples.ts'

/** The parts of an operation that the generator derives from the schemas of the route. */
export type GeneratedOperation = {
  readonly tags?: readonly string[]
  readonly parameters?: readonly object[]
  readonly requestBody?: RequestBody
  readonly responses?: Readonly<Record<string, Response>>
  readonly security?: readonly object[]
}

type Response = {
  readonly description: string
  readonly content?: Readonly<Record<string, object>>
}

type RequestBody = {
  readonly content?: Record<string, { readonly schema?: { readonly anyOf?: { type?: string }[] } }>
}

/**
 * Adds the name, the descriptions, the refusals and the examples of an operation.
 *
 * @param name method and path, as in `get /v1/sdk/products`
 */
export function describeOperation(name: string, operation: GeneratedOperation): object {
  const described = describedOperations[name]
  if (described === undefined) return operation
  const { operationId, summary, refusals } = described
  const requestBody = requestBodyOf(name, operation)
  const security = operation.security ?? securityOf(name, operation)
  const isOauth = oauthOperations.has(operationId)
  const request = {
    hasBody: requestBody !== undefined,
    hasParameters: (operation.parameters ?? []).length > 0,
    needsKey: security.length > 0,
    isMcp: operation.tags?.includes('MCP') ?? false,
  }
  const complete = {
    ...operation,
    operationId,
    summary,
    description: operationDescriptions[operationId],
    security,
    ...parametersOf(operationId, operation),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: isOauth
      ? (operation.responses ?? {})
      : { ...responsesOf(name, operation), ...refusalResponses(request, refusals) },
  }
  return withExamples(operationId, complete as ExampledOperation)
}

/** Every operation accepts this header, but no route has a schema for it, and for most operations it has no effect. */
const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A repeated request with the same key has no further effect and gets the same response',
  schema: { type: 'string' },
}

function parametersOf(
  operationId: string,
  { parameters = [] }: GeneratedOperation,
): { parameters?: readonly object[] } {
  if (idempotentOperations.has(operationId)) return { parameters: [...parameters, idempotencyKey] }
  return parameters.length === 0 ? {} : { parameters }
}

/** The generator knows only the schemas of responses, so their descriptions are added here. */
function responsesOf(name: string, { responses = {} }: GeneratedOperation): Record<string, object> {
  const described200 = describedResponses[name]
  if (described200 !== undefined) return { '200': described200 }
  const described = Object.entries(responses).map(([status, response]): [string, Response] => {
    const isUndescribed = response.description === 'Default Response'
    const description = status === '201' ? 'Created' : 'Done'
    const complete = isUndescribed ? { ...response, description } : response
    const files = describedFiles[name]
    if (files === undefined) return [status, complete]
    return [status, { ...complete, content: { ...complete.content, ...files } }]
  })
  return Object.fromEntries(described)
}

export const securitySchemes = {
  secretKey: {
    type: 'http' as const,
    scheme: 'bearer',
    description: '`sk_sandbox_…` or `sk_live_…`. The key determines the environment',
  },
  apiKey: {
    type: 'apiKey' as const,
    in: 'header' as const,
    name: 'X-API-Key',
    description: 'The same key, for clients that send no Authorization header',
  },
  accessToken: {
    type: 'http' as const,
    scheme: 'bearer',
    description: 'Access token of a console user',
  },
  customerToken: {
    type: 'http' as const,
    scheme: 'bearer',
    description: 'Access token of a client that acts for a customer',
  },
  pollToken: {
    type: 'http' as const,
    scheme: 'bearer',
    description: 'Poll token of a command-line session',
  },
}

/**
 * Returns the credentials that an operation accepts. Console routes also accept the access token of a user. Operations of the
 * user's own sign-in accept nothing else.
 */
function securityOf(name: string, { tags }: GeneratedOperation): object[] {
  if (name === 'get /v1/ui/users') return [{ secretKey: [] }, { apiKey: [] }, { accessToken: [] }]
  if (tags?.includes('Console')) return [{ accessToken: [] }]
  return / (\/v1)?\/ui\//.test(name)
    ? [{ secretKey: [] }, { apiKey: [] }, { accessToken: [] }]
    : [{ secretKey: [] }, { apiKey: [] }]
}

function requestBodyOf(name: string, { requestBody }: GeneratedOperation): object | undefined {
  return describedRequestBodies[name] ?? (requestBody && withRequiredFlag(requestBody))
}

/** Marks a body that may be null as optional, because the generator marks every body as required. */
function withRequiredFlag(body: RequestBody): object {
  const schema = body.content?.['application/json']?.schema
  const mayBeMissing = schema?.anyOf?.some(({ type }) => type === 'null') ?? false
  return { ...body, required: !mayBeMissing }
}
