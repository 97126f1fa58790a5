import type { Queryable } from '@tollgate/platform/database/database'
import type { Environment } from '@tollgate/schemas/environment'
import type { AuditEntry, AuditPlace, AuditSeal } from './entry.ts'

type EntryRow = {
  id: bigint
  provider_id: string
  environment: Environment | null
  at_micros: bigint
  actor: string
  operation: string
  request_id: string | null
  ip: string | null
  kind: string
  reference: string
  action: AuditEntry['action']
  changed_columns: string[] | null
  before_sha256: string | null
  after_sha256: string | null
}

/**
 * A position in several logs that are merged by time. Entries of the same microsecond are ordered by place and then by
 * id.
 */
export type AuditPosition = {
  readonly atMicros: bigint
  readonly place: AuditPlace
  readonly id: bigint
}

export type AuditFilter = {
  readonly environment: Environment
  readonly reference: string | undefined
  readonly actor: string | undefined
  readonly before: AuditPosition | undefined
  readonly rowsMax: number
}

/** Returns the log's entries of the environment, and its entries that belong to both environments, newest first. */
export async function listEntries(
  sql: Queryable,
  providerId: string,
  place: AuditPlace,
  { environment, reference, actor, before, rowsMax }: AuditFilter,
): Promise<AuditEntry[]> {
  const rows = await sql<EntryRow[]>`
    select *, ${atMicros(sql)} from audit_log
    where provider_id = ${providerId} and (environment = ${environment} or environment is null)
      ${reference === undefined ? sql`` : sql`and reference = ${reference}`}
      ${actor === undefined ? sql`` : sql`and actor = ${actor}`}
      ${before === undefined ? sql`` : isBefore(sql, place, before)}
    order by at desc, id desc limit ${rowsMax}`
  return rows.map(fromRow)
}

function isBefore(sql: Queryable, place: AuditPlace, before: AuditPosition) {
  const at = sql`timestamptz '1970-01-01Z' + ${String(before.atMicros)}::bigint * interval '1 microsecond'`
  if (place < before.place) return sql`and at <= ${at}`
  if (place > before.place) return sql`and at < ${at}`
  return sql`and (at, id) < (${at}, ${String(before.id)}::bigint)`
}

function atMicros(sql: Queryable) {
  return sql`(extract(epoch from at) * 1000000)::bigint as at_micros`
}

/** Returns the entries with ids in (afterId, upToId], in the order of their ids. */
export async function listEntriesBetween(
  sql: Queryable,
  providerId: string,
  afterId: bigint,
  upToId: bigint,
  rowsMax: number,
): Promise<AuditEntry[]> {
  const rows = await sql<EntryRow[]>`
    select *, ${atMicros(sql)} from audit_log
    where provider_id = ${providerId} and id > ${String(afterId)} and id <= ${String(upToId)}
    order by id limit ${rowsMax}`
  return rows.map(fromRow)
}

/** Returns the id of the newest visible entry, or 0 if there is none. */
export async function findNewestEntryId(sql: Queryable): Promise<bigint> {
  const [row] = await sql<{ id: bigint }[]>`select coalesce(max(id), 0) as id from audit_log`
  return row!.id
}

/** Returns the providers that have unsealed entries in (afterId, upToId]. */
export async function listUnsealedProviders(
  sql: Queryable,
  afterId: bigint,
  upToId: bigint,
  rowsMax: number,
): Promise<string[]> {
  const rows = await sql<{ provider_id: string }[]>`
    select distinct provider_id from audit_log
    left join (
      select provider_id, max(up_to_id) as up_to_id from audit_seals group by provider_id
    ) as sealed using (provider_id)
    where id > ${String(afterId)} and id <= ${String(upToId)} and id > coalesce(sealed.up_to_id, 0)
    limit ${rowsMax}`
  return rows.map((row) => row.provider_id)
}

export async function listAuditedProviders(sql: Queryable): Promise<string[]> {
  const rows = await sql<{ provider_id: string }[]>`
    select provider_id from audit_log union select provider_id from audit_seals order by 1`
  return rows.map((row) => row.provider_id)
}

type SealRow = {
  provider_id: string
  number: bigint
  after_id: bigint
  up_to_id: bigint
  entries: bigint
  previous_sha256: string
  sha256: string
  sealed_at: Date
}

export async function insertSeal(sql: Queryable, seal: AuditSeal): Promise<void> {
  await sql`
    insert into audit_seals
      (provider_id, number, after_id, up_to_id, entries, previous_sha256, sha256, sealed_at)
    values (${seal.providerId}, ${String(seal.number)}, ${String(seal.afterId)}, ${String(seal.upToId)},
      ${String(seal.entries)}, ${seal.previousSha256}, ${seal.sha256}, ${seal.sealedAt})`
}

export async function findLastSeal(
  sql: Queryable,
  providerId: string,
): Promise<AuditSeal | undefined> {
  const [row] = await sql<SealRow[]>`
    select * from audit_seals where provider_id = ${providerId} order by number desc limit 1`
  return row === undefined ? undefined : sealFromRow(row)
}

/** Returns the seals after `afterNumber`, in the order of their numbers. */
export async function listSeals(
  sql: Queryable,
  providerId: string,
  afterNumber: bigint,
  rowsMax: number,
): Promise<AuditSeal[]> {
  const rows = await sql<SealRow[]>`
    select * from audit_seals where provider_id = ${providerId} and number > ${String(afterNumber)}
    order by number limit ${rowsMax}`
  return rows.map(sealFromRow)
}

function sealFromRow(row: SealRow): AuditSeal {
  return {
    providerId: row.provider_id,
    number: row.number,
    afterId: row.after_id,
    upToId: row.up_to_id,
    entries: row.entries,
    previousSha256: row.previous_sha256,
    sha256: row.sha256,
    sealedAt: row.sealed_at,
  }
}

function fromRow(row: EntryRow): AuditEntry {
  return {
    id: row.id,
    providerId: row.provider_id,
    environment: row.environment,
    atMicros: row.at_micros,
    actor: row.actor,
    operation: row.operation,
    requestId: row.request_id,
    ip: row.ip,
    kind: row.kind,
    reference: row.reference,
    action: row.action,
    changedColumns: row.changed_columns,
    beforeSha256: row.before_sha256,
    afterSha256: row.after_sha256,
  }
}
