import swagger from '@fastify/swagger'
import { jsonSchemaTransform } from 'fastify-type-provider-zod'
import type { ApiServer } from '../api-server.ts'

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
  })
}

/** Needs no key. */
export function registerApiDescriptionRoute(app: ApiServer): void {
  app.get('/v1/openapi.json', { schema: { hide: true } }, () => app.swagger())
}
