import { createHash } from 'node:crypto'
import type { Queryable } from '@tollgate/platform/database/database'

export const assetKinds = ['logo', 'icon'] as const
export type AssetKind = (typeof assetKinds)[number]

/** The pictures that any browser shows and none runs. */
export type AssetType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif'

export type Asset = {
  readonly contentType: AssetType
  readonly bytes: Buffer
}

/** Goes by the bytes themselves: what a sender says of them may be wrong. Undefined: none of these. */
export function assetTypeOf(bytes: Buffer): AssetType | undefined {
  if (bytes.subarray(0, 8).equals(pngStart)) return 'image/png'
  if (bytes.subarray(0, 3).equals(jpegStart)) return 'image/jpeg'
  const start = bytes.toString('latin1', 0, 12)
  if (start.startsWith('RIFF') && start.endsWith('WEBP')) return 'image/webp'
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'image/gif'
  return undefined
}

const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const jpegStart = Buffer.from([0xff, 0xd8, 0xff])

/** Takes the place of the earlier picture of that kind. Returns the SHA-256 that it is found by. */
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

/** Where the provider's pictures are found, by kind. */
export async function findAssetNames(
  sql: Queryable,
  providerId: string,
): Promise<ReadonlyMap<AssetKind, string>> {
  const rows = await sql<{ kind: AssetKind; sha256: string }[]>`
    select kind, sha256 from provider_assets where provider_id = ${providerId}`
  return new Map(rows.map(({ kind, sha256 }) => [kind, sha256]))
}

/** The provider's own picture of that kind. */
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

/** Whoever knows what the picture is may have it: it is shown to every customer. */
export async function findAsset(sql: Queryable, sha256: string): Promise<Asset | undefined> {
  const [row] = await sql<{ content_type: AssetType; bytes: Buffer }[]>`
    select content_type, bytes from provider_assets where sha256 = ${sha256} limit 1`
  return row && { contentType: row.content_type, bytes: row.bytes }
}
