import type { Queryable } from '@tollgate/platform/database/database'

export type PublicationKind = 'api-key' | 'meters' | 'offer' | 'customer'

/** What the hot state holds a copy of. */
export type PublicationTarget = {
  readonly kind: PublicationKind
  readonly providerId: string
  /** The key's id, the product's or the customer's reference; '' for the meters of a provider. */
  readonly target: string
}

/** Says, within the transaction that changes the target, that the target must be published. */
export async function insertPublication(sql: Queryable, target: PublicationTarget): Promise<void> {
  await sql`
    insert into publications (provider_id, kind, target)
    values (${target.providerId}, ${target.kind}, ${target.target})`
}

/**
 * Makes publishers of one target wait for each other until their transactions end, whichever process they are in:
 * the state that is read later is written later.
 */
export async function lockPublicationTarget(
  sql: Queryable,
  target: PublicationTarget,
): Promise<void> {
  const name = JSON.stringify([target.kind, target.providerId, target.target])
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`
}

export async function pendingPublicationIds(
  sql: Queryable,
  target: PublicationTarget,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id::text as id from publications
    where kind = ${target.kind} and provider_id = ${target.providerId} and target = ${target.target}`
  return rows.map((row) => row.id)
}

export async function deletePublications(sql: Queryable, ids: readonly string[]): Promise<void> {
  await sql`delete from publications where id in ${sql(ids)}`
}

/** Targets with something left to publish, the longest waiting first. */
export async function listPendingTargets(
  sql: Queryable,
  rowsMax: number,
): Promise<PublicationTarget[]> {
  const rows = await sql<{ kind: PublicationKind; provider_id: string; target: string }[]>`
    select kind, provider_id, target from publications
    group by kind, provider_id, target order by min(id) limit ${rowsMax}`
  return rows.map((row) => ({ kind: row.kind, providerId: row.provider_id, target: row.target }))
}
