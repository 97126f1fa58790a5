import type { HotPlace } from '@tollgate/platform/hot-state/hot-state'
import type { Queryable } from '@tollgate/platform/database/database'
import type { Environment } from '@tollgate/schemas/environment'
import {
  apiKeyDocumentKey,
  metersDocumentKey,
  offerDocumentKey,
} from '@tollgate/schemas/hot-state/documents'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { PublicationKind, PublicationSpace, TargetName } from './repository.ts'

/** Queues everything, including revoked keys and removed products, because an older copy of hot state may have come back. */
export async function queueEverything(sql: Queryable, space: PublicationSpace): Promise<void> {
  if (space === 'control') {
    await sql`
      insert into publications (provider_id, kind, target)
      select provider_id, 'api-key', key_id from api_keys`
    return
  }
  await sql`
    insert into publications (provider_id, kind, target)
    (select distinct provider_id, 'meters', '' from meters)
    union all (select provider_id, 'offer', reference from products)
    union all (select provider_id, 'customer', reference from customers)`
}

type LostPlaces = {
  readonly isLost: (place: HotPlace) => boolean
  readonly partitionCount: (environment: Environment) => number
}

/**
 * Queues the targets that have a copy in a lost place. All names are read, because the database cannot calculate the hash of a
 * place.
 */
export async function queueLostPlaces(
  sql: Queryable,
  space: PublicationSpace,
  { isLost, partitionCount }: LostPlaces,
): Promise<void> {
  if (space === 'control') {
    await queueLostTargets(sql, 'api-key', listApiKeys, ({ text }) =>
      isLost({ document: apiKeyDocumentKey(text) }),
    )
    return
  }
  await queueLostTargets(sql, 'meters', listMeterProviders, ({ providerId }) =>
    isLost({ document: metersDocumentKey(space, providerId) }),
  )
  await queueLostTargets(sql, 'offer', listProducts, ({ providerId, target }) =>
    isLost({ document: offerDocumentKey(space, providerId, target) }),
  )
  // A customer has entries under each of its references, in the partition of each reference.
  const count = partitionCount(space)
  await queueLostTargets(sql, 'customer', listReferences, ({ providerId, text }) =>
    isLost({ space, partition: partitionOf(subjectKey(providerId, text), count) }),
  )
}

/**
 * A target and its sort text. Targets are ordered by (providerId, text). The text of a customer is the reference whose hash selects
 * the partition.
 */
type PlacedTarget = TargetName & { readonly text: string }

type ListPage = (
  sql: Queryable,
  after: Pick<PlacedTarget, 'providerId' | 'text'>,
) => Promise<PlacedTarget[]>

const namesPerPage = 10_000

async function queueLostTargets(
  sql: Queryable,
  kind: PublicationKind,
  list: ListPage,
  isLost: (named: PlacedTarget) => boolean,
): Promise<void> {
  for (let last: PlacedTarget | undefined = { providerId: '', target: '', text: '' }; last;) {
    const page: PlacedTarget[] = await list(sql, last)
    const lost = page.filter(isLost)
    await sql`
      insert into publications (provider_id, kind, target)
      select distinct provider_id, ${kind}, target from unnest(
        ${lost.map(({ providerId }) => providerId)}::text[],
        ${lost.map(({ target }) => target)}::text[]) as lost (provider_id, target)`
    last = page.length < namesPerPage ? undefined : page.at(-1)
  }
}

function listApiKeys(sql: Queryable, after: Parameters<ListPage>[1]): Promise<PlacedTarget[]> {
  return sql<PlacedTarget[]>`
    select provider_id as "providerId", key_id as target, sha256 as text from api_keys
    where (provider_id, sha256) > (${after.providerId}, ${after.text})
    order by provider_id, sha256 limit ${namesPerPage}`
}

function listMeterProviders(
  sql: Queryable,
  after: Parameters<ListPage>[1],
): Promise<PlacedTarget[]> {
  return sql<PlacedTarget[]>`
    select distinct provider_id as "providerId", '' as target, '' as text from meters
    where provider_id > ${after.providerId} order by provider_id limit ${namesPerPage}`
}

function listProducts(sql: Queryable, after: Parameters<ListPage>[1]): Promise<PlacedTarget[]> {
  return sql<PlacedTarget[]>`
    select provider_id as "providerId", reference as target, reference as text from products
    where (provider_id, reference) > (${after.providerId}, ${after.text})
    order by provider_id, reference limit ${namesPerPage}`
}

function listReferences(sql: Queryable, after: Parameters<ListPage>[1]): Promise<PlacedTarget[]> {
  return sql<PlacedTarget[]>`
    select provider_id as "providerId", customer_ref as target, reference as text
    from customer_references
    where (provider_id, reference) > (${after.providerId}, ${after.text})
    order by provider_id, reference limit ${namesPerPage}`
}
