import { noteBackfill } from '@tollgate/domain/usage-corrections/note-backfill'
import {
  backfillAppendMsMax,
  backfillNotedSchema,
  backfillSchema,
  backfillsPath,
} from '@tollgate/schemas/http/usage-corrections'
import type { ApiServer } from '../../access/api-server.ts'
import { operationOf } from '../../access/caller.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'

/**
 * Registers the route on which ingest announces a backfill before its records are in the log. Bills look at the periods again, and keep
 * looking until the records must be in the log.
 */
export function registerBackfillRoute(app: ApiServer, parts: ChangeParts): void {
  app.post(
    backfillsPath,
    {
      schema: {
        hide: true,
        body: backfillSchema,
        response: { 200: backfillNotedSchema },
      },
    },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const keptUntil = new Date(operation.now.getTime() + 2 * backfillAppendMsMax)
      await commit(parts, operation, (work) => noteBackfill(work, request.body.usages, keptUntil))
      return { success: true as const }
    },
  )
}
