import { mergeNewest, type PlacedEntry, positionOf } from '@tollgate/domain/audit/merge-newest'
import {
  listEntries,
  type AuditFilter,
  type AuditPosition,
} from '@tollgate/domain/audit/repository'
import {
  auditEntriesDefault,
  auditLogQuerySchema,
  auditLogResponseSchema,
  type AuditEntryBody,
} from '@tollgate/schemas/http/audit-log'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf } from '../../access/caller.ts'
import { read, readControl, type ReadParts } from '../../access/read.ts'
import { auditPlaces } from '@tollgate/domain/audit/entry'

/** Registers the route of the audit log, with entries of the calling key's environment and entries outside both environments. */
export function registerAuditLogRoute(app: ApiServer, parts: ReadParts): void {
  app.get(
    '/v1/ui/audit-log',
    {
      schema: {
        tags: ['Audit log'],
        querystring: auditLogQuerySchema,
        response: { 200: auditLogResponseSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { providerId, environment } = caller
      const { limit, before, reference, actor } = request.query
      const rowsMax = limit === undefined ? auditEntriesDefault : Number(limit)
      const filter: AuditFilter = {
        environment,
        reference: reference || undefined,
        actor: actor || undefined,
        before: before === undefined ? undefined : parseAuditCursor(before),
        // One row more than the page shows whether there is another page.
        rowsMax: rowsMax + 1,
      }
      const [own, shared] = await Promise.all([
        read(parts, caller, (sql) => listEntries(sql, providerId, environment, filter)),
        readControl(parts, caller, (sql) => listEntries(sql, providerId, 'control', filter)),
      ])
      const newest: PlacedEntry[] = mergeNewest(
        [
          own.map((entry) => ({ ...entry, place: environment })),
          shared.map((entry) => ({ ...entry, place: 'control' })),
        ],
        rowsMax + 1,
      )
      const entries = newest.slice(0, rowsMax)
      const last = entries.at(-1)
      return {
        entries: entries.map(auditEntryToHttp),
        next: newest.length > rowsMax && last !== undefined ? auditCursor(last) : null,
      }
    },
  )
}

function auditEntryToHttp(entry: PlacedEntry): AuditEntryBody {
  return {
    id: `${entry.place}-${entry.id}`,
    at: new Date(Number(entry.atMicros / 1_000n)).toISOString(),
    environment: entry.environment,
    actor: entry.actor,
    operation: entry.operation,
    requestId: entry.requestId,
    ip: entry.ip,
    kind: entry.kind,
    reference: entry.reference,
    action: entry.action,
    changedColumns: entry.changedColumns === null ? null : [...entry.changedColumns],
    beforeSha256: entry.beforeSha256,
    afterSha256: entry.afterSha256,
  }
}

/** Returns the cursor from which the list continues after the entry. */
function auditCursor(entry: PlacedEntry): string {
  const { atMicros, place, id } = positionOf(entry)
  return `${atMicros}-${place}-${id}`
}

/** Parses a cursor that its schema has already accepted. */
function parseAuditCursor(cursor: string): AuditPosition {
  const [atMicros = '', name, id = ''] = cursor.split('-')
  const place = auditPlaces.find((each) => each === name)
  if (place === undefined) throw new Error(`there is no audit log ${name}`)
  return { atMicros: BigInt(atMicros), place, id: BigInt(id) }
}
