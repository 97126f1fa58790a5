import { auditPlaces } from '@tollgate/domain/audit/entry'
import { positionOf, type PlacedEntry } from '@tollgate/domain/audit/merge-newest'
import type { AuditPosition } from '@tollgate/domain/audit/repository'
import type { AuditEntryBody } from '@tollgate/schemas/http/audit-log'

export function auditEntryToHttp(entry: PlacedEntry): AuditEntryBody {
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
export function auditCursor(entry: PlacedEntry): string {
  const { atMicros, place, id } = positionOf(entry)
  return `${atMicros}-${place}-${id}`
}

/** Parses a cursor that its schema has already accepted. */
export function parseAuditCursor(cursor: string): AuditPosition {
  const [atMicros = '', name, id = ''] = cursor.split('-')
  const place = auditPlaces.find((each) => each === name)
  if (place === undefined) throw new Error(`there is no audit log ${name}`)
  return { atMicros: BigInt(atMicros), place, id: BigInt(id) }
}
