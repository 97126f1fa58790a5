import type { Queryable } from '@tollgate/platform/database/database'
import type { Environment } from '@tollgate/schemas/environment'
import type { PublishedKind } from '@tollgate/schemas/hot-state/publications'

export type PublicationKind = PublishedKind

/** Where a target's publications wait: with what they tell about. */
export type PublicationSpace = Environment | 'control'

/** What of a kind the hot state holds a copy of. */
export type TargetName = {
  readonly providerId: string
  /** The key's id, the product's or the customer's reference; '' for the meters of a provider. */
  readonly target: string
}

/** What the hot state holds a copy of. */
export type PublicationTarget = TargetName & { readonly kind: PublicationKind }

/** Says, within the transaction that changes the target, that the target must be published. */
export async function insertPublication(sql: Queryable, target: PublicationTarget): Promise<void> {
  await sql`
    insert into publications (provider_id, kind, target)
    values (${target.providerId}, ${target.kind}, ${target.target})`
}

/**
 * Makes publishers of one target wait for each other until their transactions end, whichever process they are in:
 * the state that is read later is written later. In one order, so that no two of them wait for each other.
 */
export async function lockPublicationTargets(
  sql: Queryable,
  kind: PublicationKind,
  targets: readonly TargetName[],
): Promise<void> {
  const names = targets.map(({ providerId, target }) => JSON.stringify([kind, providerId, target]))
  await sql`
    select pg_advisory_xact_lock(lock) from (
      select distinct hashtextextended(name, 0) as lock from unnest(${names}::text[]) as name
      order by lock
    ) as locks`
}

export type Publication = TargetName & { readonly id: string }

/** The waiting publications of these targets. */
export async function listPublications(
  sql: Queryable,
  kind: PublicationKind,
  targets: readonly TargetName[],
): Promise<Publication[]> {
  const rows = await sql<{ id: string; provider_id: string; target: string }[]>`
    select id::text as id, provider_id, target from publications
    where kind = ${kind} and ${isOneOf(sql, targets)}`
  return rows.map((row) => ({ id: row.id, providerId: row.provider_id, target: row.target }))
}

function isOneOf(sql: Queryable, targets: readonly TargetName[]) {
  const providerIds = targets.map(({ providerId }) => providerId)
  const names = targets.map(({ target }) => target)
  return sql`(provider_id, target) in (
    select * from unnest(${providerIds}::text[], ${names}::text[]))`
}

export async function deletePublications(sql: Queryable, ids: readonly string[]): Promise<void> {
  await sql`delete from publications where id = any(${[...ids]}::bigint[])`
}

/** Targets that wait, those that wait longest first. */
export type PendingPage = {
  readonly targets: readonly TargetName[]
  /** To go on after; undefined when this was the last page. */
  readonly last: string | undefined
}

/** Targets of a kind with something left to publish, from so many publications after the one of that id ('0': all). */
export async function listPendingTargets(
  sql: Queryable,
  kind: PublicationKind,
  after: string,
  rowsMax: number,
): Promise<PendingPage> {
  const rows = await sql<{ id: string; provider_id: string; target: string }[]>`
    select id::text as id, provider_id, target from publications
    where kind = ${kind} and id > ${after}::bigint order by publications.id limit ${rowsMax}`
  const targets = new Map<string, TargetName>()
  for (const { provider_id: providerId, target } of rows) {
    targets.set(`${providerId.length}:${providerId}${target}`, { providerId, target })
  }
  return {
    targets: [...targets.values()],
    last: rows.length === rowsMax ? rows.at(-1)?.id : undefined,
  }
}

/** Whether something of the kind waits that was queued no later than the publication of this id. */
export async function isPublicationWaiting(
  sql: Queryable,
  kind: PublicationKind,
  queuedTo: string,
): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (
      select from publications where kind = ${kind} and id <= ${queuedTo}::bigint
    ) as found`
  return row!.found
}
