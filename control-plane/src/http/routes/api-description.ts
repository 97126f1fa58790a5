import swagger from '@fastify/swagger'
import { createJsonSchemaTransform } from 'fastify-type-provider-zod'
import type { ApiServer } from '../../access/api-server.ts'
import { customerAuthPaths } from '../customer-auth-paths.ts'
import { dataPlanePaths } from '../data-plane-paths.ts'
import {
  describeOperation,
  securitySchemes,
  type GeneratedOperation,
} from '../describe-operation.ts'
import { errorComponents } from '../described-errors.ts'
import { describedOperations, describedTags } from '../described-operations.ts'
import { allowAdditionalProperties, describedSchema } from '../described-schema.ts'
import { z } from 'zod'
import { eventDefinitions, eventTypes, type EventType } from '@tollgate/schemas/event-types'
import type { EventDefinition } from '@tollgate/schemas/events/event'
import { sampleEvent } from '@tollgate/schemas/http/examples/events'
import { eventEnvelopeSchema } from '@tollgate/schemas/http/webhooks'

/** Describes the routes that are registered after it. */
export async function installApiDescription(app: ApiServer): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tollgate',
        description: 'Usage metering, plan limits and billing for APIs and MCP servers',
        version: '1.0',
        license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'This installation' }],
      tags: describedTags,
      components: { securitySchemes },
    },
    transform: createJsonSchemaTransform({
      zodToJsonConfig: { override: allowAdditionalProperties },
    }),
    transformObject: (document) =>
      withCommonParts('openapiObject' in document ? document.openapiObject : {}),
  })
}

type Description = {
  readonly components?: object
  readonly paths?: Record<string, object | undefined>
}

/** Adds the operations of the data plane, and for every operation the parts that its schemas do not contain. */
function withCommonParts<Document extends Description>(document: Document): Document {
  const paths = Object.entries({
    ...document.paths,
    ...dataPlanePaths(),
    ...customerAuthPaths(),
  }).map(([path, methods]): Path => [
    path,
    Object.fromEntries(
      Object.entries(methods ?? {}).map(([method, operation]: [string, GeneratedOperation]) => [
        method,
        describeOperation(`${method} ${path}`, operation),
      ]),
    ),
  ])
  return {
    ...document,
    components: { ...document.components, ...errorComponents },
    paths: Object.fromEntries(paths.sort((one, other) => positionOf(one) - positionOf(other))),
    webhooks: describedWebhooks(),
  }
}

type Path = [path: string, methods: Record<string, object>]

const order = Object.keys(describedOperations)

/** Returns the position of a path in the order of the described operations, because documentation pages keep the order of paths. */
function positionOf([path, methods]: Path): number {
  return Math.min(...Object.keys(methods).map((method) => order.indexOf(`${method} ${path}`)))
}

/** Serves the description without authentication. */
export function registerApiDescriptionRoute(app: ApiServer): void {
  const schema = { tags: ['Description'], security: [] }
  app.get('/v1/openapi.json', { schema }, () => app.swagger())
}

/** Returns the bodies that endpoints receive, by event type. */
function describedWebhooks(): Record<string, object> {
  return Object.fromEntries(eventTypes.map((type) => [type, { post: describedDelivery(type) }]))
}

function describedDelivery(type: EventType): object {
  const { description, object, previous }: EventDefinition = eventDefinitions[type]
  const schema = eventEnvelopeSchema.extend({
    type: z.literal(type),
    data: z.object({ object, previous_attributes: previous ?? z.null() }),
  })
  return {
    operationId: type,
    summary: description,
    tags: ['Webhooks'],
    security: [],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: describedSchema(schema, 'output'),
          examples: { [description]: { value: sampleEvent(type) } },
        },
      },
    },
    responses: { '2XX': { description: 'Accepted. Any other response is retried later' } },
  }
}
