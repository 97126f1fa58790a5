import { createHash } from 'node:crypto'
import type { Queryable } from '@tollgate/platform/database/database'
import type { AssetType } from './asset-type.ts'

export const assetKinds = ['logo', 'icon'] as const
export type AssetKind = (typeof assetKinds)[number]

export type Asset = {
  readonly contentType: AssetType
  readonly bytes: Buffer
}

/** Stores an image in place of the provider's earlier image of that kind. Returns its SHA-256 in hex, by which it is found. */
export async function putAsset(
  sql: Queryable,
  providerId: string,
  kind: AssetKind,
  { contentType, bytes }: Asset,
  now: Date,
): Promise<string> {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const changed = { sha256, content_type: contentType, bytes, created_at: now }
  await sql`
    insert into provider_assets ${sql({ ...changed, provider_id: providerId, kind })}
    on conflict (provider_id, kind) do update set ${sql(changed)}`
  return sha256
}

/** Returns the SHA-256 of each of the provider's images, by kind. */
export async function findAssetNames(
  sql: Queryable,
  providerId: string,
): Promise<ReadonlyMap<AssetKind, string>> {
  const rows = await sql<{ kind: AssetKind; sha256: string }[]>`
    select kind, sha256 from provider_assets where provider_id = ${providerId}`
  return new Map(rows.map(({ kind, sha256 }) => [kind, sha256]))
}

/** Returns the provider's own image of that kind. */
export async function findAssetOf(
  sql: Queryable,
  providerId: string,
  kind: AssetKind,
): Promise<Asset | undefined> {
  const [row] = await sql<{ content_type: AssetType; bytes: Buffer }[]>`
    select content_type, bytes from provider_assets
    where provider_id = ${providerId} and kind = ${kind}`
  return row && { contentType: row.content_type, bytes: row.bytes }
}

/** Returns an image by its SHA-256. It is public, because every customer can see it. */
export async function findAsset(sql: Queryable, sha256: string): Promise<Asset | undefined> {
  const [row] = await sql<{ content_type: AssetType; bytes: Buffer }[]>`
    select content_type, bytes from provider_assets where sha256 = ${sha256} limit 1`
  return row && { contentType: row.content_type, bytes: row.bytes }
}
