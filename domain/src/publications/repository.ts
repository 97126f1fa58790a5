import type { Queryable } from '@tollgate/platform/database/database'
import type { Environment } from '@tollgate/schemas/environment'
import type { PublishedKind } from '@tollgate/schemas/hot-state/publications'

export type PublicationKind = PublishedKind

/** The schema in which a target's publications are queued: the one of the data that they publish. */
export type PublicationSpace = Environment | 'control'

/** A target of one kind, of which hot state has a copy. */
export type TargetName = {
  readonly providerId: string
  /** Id of the key, or reference of the product or customer; '' for the meters of a provider. */
  readonly target: string
}

/** A target of which hot state has a copy. */
export type PublicationTarget = TargetName & { readonly kind: PublicationKind }

/** Queues the publication of a target, within the transaction that changes it. */
export async function insertPublication(sql: Queryable, target: PublicationTarget): Promise<void> {
  await sql`
    insert into publications (provider_id, kind, target)
    values (${target.providerId}, ${target.kind}, ${target.target})`
}

/**
 * Makes publishers of the same target wait for each other until their transactions end, in all processes. State that is read later
 * is therefore written later. Targets are locked in one order, so that publishers cannot deadlock.
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

/** Returns the queued publications of these targets. */
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

/** Targets with queued publications, the longest queued first. */
export type PendingPage = {
  readonly targets: readonly TargetName[]
  /** Id to continue after; undefined if this was the last page. */
  readonly last: string | undefined
}

/** Returns the targets of a kind among the next `rowsMax` queued publications after the id ('0' for the first page). */
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

/** Returns whether a publication of the kind with this id or a smaller one is still queued. */
export async function isPublicationQueued(
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
