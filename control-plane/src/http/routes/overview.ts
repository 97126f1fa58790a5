import { overviewQuerySchema, overviewSchema } from '@tollgate/schemas/http/overview'
import { callerOf } from '../../access/caller.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { businessOverview, type OverviewParts } from '../../overview/business-overview.ts'

export function registerOverviewRoute(app: ApiServer, parts: OverviewParts): void {
  app.get(
    '/v1/ui/overview',
    {
      schema: {
        tags: ['Console'],
        querystring: overviewQuerySchema,
        response: { 200: overviewSchema },
      },
    },
    (request) => businessOverview(parts, callerOf(request), request.query.timeZone ?? 'UTC'),
  )
}
