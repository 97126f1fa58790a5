import type { Queryable } from '@tollgate/platform/database/database'
import { digestOfParts } from './digest.ts'

/** Identifies the authorization server that a record belongs to. */
export type RecordPlace = {
  readonly providerId: string
  readonly productRef: string
  readonly issuer: string
}

export type OauthRecord = {
  readonly model: string
  readonly id: string
  /** Payload, sealed for `recordPayloadPlace`. */
  readonly sealedPayload: string
  readonly grantId: string | undefined
  readonly uid: string | undefined
  /** Only set for clients. */
  readonly clientId: string | undefined
  readonly customerRef: string | undefined
  readonly expiresAt: Date | null
}

export type StoredRecord = {
  readonly sealedPayload: string
  readonly consumedAt: Date | null
}

type StoredRow = { payload: string; consumed_at: Date | null }

/** Returns the storage place of payloads. The seal of a payload is bound to it. */
export function recordPayloadPlace(providerId: string) {
  return { table: 'oauth_records', column: 'payload', owner: providerId } as const
}

export function grantDigestOf(issuer: string, grantId: string): string {
  return digestOfParts(issuer, 'grant', grantId)
}

/**
 * The digest includes the provider and the product. So if a new MCP server gets the address of a former one, it has
 * none of its records.
 */
function recordDigestOf(
  { providerId, productRef, issuer }: RecordPlace,
  model: string,
  ...id: readonly string[]
): string {
  return digestOfParts(providerId, productRef, issuer, model, ...id)
}

/** Inserts or replaces the record. A consumed record stays consumed. */
export async function saveRecord(
  sql: Queryable,
  place: RecordPlace,
  record: OauthRecord,
  now: Date,
): Promise<void> {
  const { providerId, productRef, issuer } = place
  const { model, id, grantId, uid, clientId } = record
  const row = {
    payload: record.sealedPayload,
    grant_sha256: grantId === undefined ? null : grantDigestOf(issuer, grantId),
    uid_sha256: uid === undefined ? null : recordDigestOf(place, model, 'uid', uid),
    client_sha256: clientId === undefined ? null : digestOfParts(clientId),
    customer_ref: record.customerRef ?? null,
    expires_at: record.expiresAt,
  }
  const server = { provider_id: providerId, product_ref: productRef, issuer, model }
  const record_sha256 = recordDigestOf(place, model, id)
  await sql`
    insert into oauth_records ${sql({ record_sha256, ...server, ...row, created_at: now })}
    on conflict (record_sha256) do update set ${sql(row)}`
}

export async function findRecord(
  sql: Queryable,
  place: RecordPlace,
  { model, id }: Pick<OauthRecord, 'model' | 'id'>,
  now: Date,
): Promise<StoredRecord | undefined> {
  const rows = await sql<StoredRow[]>`
    select payload, consumed_at from oauth_records
    where record_sha256 = ${recordDigestOf(place, model, id)}
      and (expires_at is null or expires_at > ${now})`
  return fromRows(rows)
}

export async function findRecordByUid(
  sql: Queryable,
  place: RecordPlace,
  { model, uid }: { readonly model: string; readonly uid: string },
  now: Date,
): Promise<StoredRecord | undefined> {
  const rows = await sql<StoredRow[]>`
    select payload, consumed_at from oauth_records
    where uid_sha256 = ${recordDigestOf(place, model, 'uid', uid)}
      and (expires_at is null or expires_at > ${now})`
  return fromRows(rows)
}

/** Consumes the record. Returns false if it was consumed before: of concurrent requests, one returns true. */
export async function consumeRecord(
  sql: Queryable,
  place: RecordPlace,
  { model, id }: Pick<OauthRecord, 'model' | 'id'>,
  now: Date,
): Promise<boolean> {
  const rows = await sql`
    update oauth_records set consumed_at = ${now}
    where record_sha256 = ${recordDigestOf(place, model, id)} and consumed_at is null
    returning 1`
  return rows.length === 1
}

/** Deletes the record. Returns false if there was none. */
export async function removeRecord(
  sql: Queryable,
  place: RecordPlace,
  { model, id }: Pick<OauthRecord, 'model' | 'id'>,
): Promise<boolean> {
  const rows = await sql`
    delete from oauth_records where record_sha256 = ${recordDigestOf(place, model, id)}
    returning 1`
  return rows.length === 1
}

/** Extends the expiry of a client, at most once a day, so that clients in use do not expire. */
export async function extendClient(
  sql: Queryable,
  place: RecordPlace,
  clientId: string,
  expiresAt: Date,
): Promise<void> {
  const aDayBefore = new Date(expiresAt.getTime() - 86_400_000)
  await sql`
    update oauth_records set expires_at = ${expiresAt}
    where record_sha256 = ${recordDigestOf(place, 'Client', clientId)}
      and expires_at < ${aDayBefore}`
}

function fromRows([row]: readonly StoredRow[]): StoredRecord | undefined {
  return row && { sealedPayload: row.payload, consumedAt: row.consumed_at }
}
