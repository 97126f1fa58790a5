import swagger from '@fastify/swagger'
import { createJsonSchemaTransform } from 'fastify-type-provider-zod'
import type { ApiServer } from '../api-server.ts'
import { dataPlanePaths } from '../data-plane-paths.ts'
import { errorComponents, errorResponses } from '../described-errors.ts'
import { leaveOpen } from '../described-schema.ts'

/** Describes the routes that are registered after it. */
export async function installApiDescription(app: ApiServer): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tollgate',
        description: 'Usage metering, plan limits and billing for APIs and MCP servers',
        version: '1.0',
      },
      components: { securitySchemes: { secretKey: { type: 'http', scheme: 'bearer' } } },
      security: [{ secretKey: [] }],
    },
    transform: createJsonSchemaTransform({ zodToJsonConfig: { override: leaveOpen } }),
    transformObject: (document) =>
      withCommonParts('openapiObject' in document ? document.openapiObject : {}),
  })
}

type Description = {
  readonly components?: object
  readonly paths?: Record<string, object | undefined>
}

type Operation = { readonly requestBody?: RequestBody; readonly responses?: object }

type RequestBody = {
  readonly content?: Record<string, { readonly schema?: { readonly anyOf?: { type?: string }[] } }>
}

/** Adds what the data plane serves, and to every operation its refusals. */
function withCommonParts<Document extends Description>(document: Document): Document {
  const paths = Object.entries({ ...document.paths, ...dataPlanePaths() }).map(
    ([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods ?? {}).map(([method, operation]: [string, Operation]) => [
          method,
          withRefusals(operation),
        ]),
      ),
    ],
  )
  return {
    ...document,
    components: { ...document.components, ...errorComponents },
    paths: Object.fromEntries(paths) as Description['paths'],
  }
}

function withRefusals(operation: Operation): object {
  const { requestBody, responses } = operation
  return {
    ...operation,
    ...(requestBody === undefined ? {} : { requestBody: withItsNeed(requestBody) }),
    responses: { ...responses, ...errorResponses },
  }
}

/** The generator calls every body required; one that may be null may be left out as well. */
function withItsNeed(body: RequestBody): object {
  const schema = body.content?.['application/json']?.schema
  const mayBeMissing = schema?.anyOf?.some(({ type }) => type === 'null') ?? false
  return { ...body, required: !mayBeMissing }
}

/** Needs no key. */
export function registerApiDescriptionRoute(app: ApiServer): void {
  app.get('/v1/openapi.json', { schema: { hide: true } }, () => app.swagger())
}
