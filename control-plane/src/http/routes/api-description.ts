import swagger from '@fastify/swagger'
import { jsonSchemaTransform } from 'fastify-type-provider-zod'
import { errorSchema } from '@tollgate/schemas/http/errors'
import type { ApiServer } from '../api-server.ts'
import { dataPlanePaths, jsonContent } from '../data-plane-paths.ts'

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
    transform: jsonSchemaTransform,
    transformObject: (document) =>
      withCommonParts('openapiObject' in document ? document.openapiObject : {}),
  })
}

type Description = { readonly paths?: Record<string, object | undefined> }
type Operation = { readonly responses?: object }

/** Adds what the data plane serves, and to every operation the body of its refusals. */
function withCommonParts<Document extends Description>(document: Document): Document {
  const refusal = { description: 'Refused', content: jsonContent(errorSchema, 'output') }
  const paths = Object.entries({ ...document.paths, ...dataPlanePaths() }).map(
    ([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods ?? {}).map(([method, operation]: [string, Operation]) => [
          method,
          { ...operation, responses: { ...operation.responses, default: refusal } },
        ]),
      ),
    ],
  )
  return { ...document, paths: Object.fromEntries(paths) as Description['paths'] }
}

/** Needs no key. */
export function registerApiDescriptionRoute(app: ApiServer): void {
  app.get('/v1/openapi.json', { schema: { hide: true } }, () => app.swagger())
}
