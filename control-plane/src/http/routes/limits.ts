import { limitsRequestSchema, limitsResponseSchema } from '@tollgate/schemas/http/limits'
import { checkLimit } from '../../limits/check-limit.ts'
import type { ApiServer } from '../api-server.ts'
import type { AppParts } from '../app-parts.ts'
import { operationOf } from '../plugins/authentication.ts'

/** Calls come here from the data plane, which answers most of them itself. */
export function registerLimitRoutes(app: ApiServer, parts: AppParts): void {
  app.post(
    '/v1/sdk/limits',
    {
      schema: {
        tags: ['Limits'],
        body: limitsRequestSchema,
        response: { 200: limitsResponseSchema },
      },
    },
    (request) => checkLimit(parts, operationOf(request, parts.clock), request.body),
  )
}
