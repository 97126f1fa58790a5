import { countRuns, listRuns, type BillingRun } from '@tollgate/domain/calendar/runs'
import {
  billingRunsQuerySchema,
  billingRunsResponseSchema,
  type BillingRunBody,
} from '@tollgate/schemas/http/billing-runs'
import { clampPage } from '@tollgate/schemas/http/fields'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { definedFields } from '../../domain/defined-fields.ts'

/** Registers the route that lists runs of scheduled jobs for the caller. A run that changed nothing is not listed. */
export function registerBillingRunRoutes(app: ApiServer, parts: ReadParts): void {
  app.get(
    '/v1/ui/billing/runs',
    {
      schema: {
        tags: ['Billing'],
        querystring: billingRunsQuerySchema,
        response: { 200: billingRunsResponseSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const page = clampPage(request.query)
      const job = request.query.job || undefined
      const filter = { job, rowsMax: page.limit, offset: page.offset }
      return read(parts, caller, async (sql) => {
        const runs = await listRuns(sql, caller.providerId, filter)
        const total = await countRuns(sql, caller.providerId, job)
        return { runs: runs.map(runToHttp), total, ...page }
      })
    },
  )
}

function runToHttp(run: BillingRun): BillingRunBody {
  const { job, slot, startedAt, endedAt, done, postponed, failed, failure } = run
  return {
    job,
    slot: slot.toISOString(),
    startedAt: startedAt.toISOString(),
    endedAt: endedAt.toISOString(),
    counts: { done, postponed, failed },
    ...definedFields({ failure }),
  }
}
