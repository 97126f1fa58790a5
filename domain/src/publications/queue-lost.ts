import { randomUUID } from 'node:crypto'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { Queryable } from '@tollgate/platform/database/database'
import {
  readPublicationState,
  writeProgress,
  writeStart,
  type PublicationState,
} from './publication-state.ts'
import { poolOf, type PublicationSpace } from './publisher.ts'
import type { PublisherParts } from './publisher-parts.ts'

/** What the hot state has, or may have, lost of what was published. */
export type Loss =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'entries'; readonly environments: readonly Environment[] }
  | { readonly kind: 'everything' }

export function judgeLoss({ progress, torn }: PublicationState): Loss {
  if (progress === undefined) return { kind: 'everything' }
  return torn.length > 0 ? { kind: 'entries', environments: torn } : { kind: 'nothing' }
}

/**
 * Queues what the hot state lost: all of it when it is new, was wiped, or is another server's copy; the customers of an
 * environment when a partition of that one is missing. The order of effects, and what a loss or a crash after each of
 * them leaves:
 *
 *   1. the start, which is lost together with whatever is published after it: in the hot state a document, and an
 *      entry in each partition. There is no progress for it yet, so the next round begins anew.
 *   2. the queue, committed. Some of it may be carried out at once, by whichever process.
 *   3. progress, which says that the queue is there. It names the start: a start that was lost meanwhile is not brought
 *      back by it.
 *
 * Queued twice does no harm. Processes that see the same loss take turns, and the second one finds it made good.
 */
export async function queueLost(parts: PublisherParts): Promise<Loss> {
  if (judgeLoss(await readPublicationState(parts)).kind === 'nothing') return { kind: 'nothing' }
  return await parts.database.control.begin(async (sql): Promise<Loss> => {
    await takeTurn(sql)
    const state = await readPublicationState(parts)
    const loss = judgeLoss(state)
    if (loss.kind === 'nothing') return loss
    const id = randomUUID()
    await writeStart(parts, { id, incarnation: state.incarnation })
    const queuedTo = await queue(parts, loss)
    await writeProgress(parts, { id, queuedTo, published: [] })
    return loss
  })
}

/** Until the transaction ends, which waits for this process, not for a statement. */
async function takeTurn(sql: Queryable): Promise<void> {
  await sql`select set_config('idle_in_transaction_session_timeout', ${queueTimeout}, true)`
  await sql`select pg_advisory_xact_lock(hashtextextended('queue lost publications', 0))`
}

/** Millions of customers take a while. */
const queueTimeout = '300s'

/** The last publication of each space: everything that was queued is no later. */
async function queue(
  parts: PublisherParts,
  loss: Exclude<Loss, { kind: 'nothing' }>,
): Promise<Record<string, string>> {
  const spaces: readonly PublicationSpace[] = ['control', ...environments]
  const queuedTo: Record<string, string> = {}
  for (const space of spaces) {
    queuedTo[space] = await poolOf(parts, space).begin(async (sql) => {
      await sql`select set_config('statement_timeout', ${queueTimeout}, true)`
      if (loss.kind === 'everything') await queueEverything(sql, space)
      else if (loss.environments.some((each) => each === space)) await queueCustomers(sql)
      const [row] = await sql<{ last: string }[]>`
        select coalesce(max(id), 0)::text as last from publications`
      return row!.last
    })
  }
  return queuedTo
}

/** Keys that were revoked and products that were removed as well: a copy of before may have come back. */
async function queueEverything(sql: Queryable, space: PublicationSpace): Promise<void> {
  if (space === 'control') {
    await sql`
      insert into publications (provider_id, kind, target)
      select provider_id, 'api-key', key_id from api_keys`
    return
  }
  await sql`
    insert into publications (provider_id, kind, target)
    (select distinct provider_id, 'meters', '' from meters)
    union all (select provider_id, 'offer', reference from products)`
  await queueCustomers(sql)
}

async function queueCustomers(sql: Queryable): Promise<void> {
  await sql`
    insert into publications (provider_id, kind, target)
    select provider_id, 'customer', reference from customers`
}
