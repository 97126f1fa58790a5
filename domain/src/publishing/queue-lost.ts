import { randomUUID } from 'node:crypto'
import { environments } from '@tollgate/schemas/environment'
import type { Queryable } from '@tollgate/platform/database/database'
import { isWhole, judgeLoss, type PublishedLoss } from './judge-loss.ts'
import { readPublicationState, writeProgress, writeStart } from './publication-state.ts'
import type { PublicationSpace } from '../publications/repository.ts'
import { poolOf } from './publisher.ts'
import type { PublisherParts } from './publisher-parts.ts'
import { queueEverything, queueLostPlaces } from '../publications/queue-targets.ts'

/**
 * Queues what the hot state lost: all of it when it is new, was wiped, or is another server's copy; what one server of
 * several kept, when that one was started again or another took its place; the customers of a partition that is
 * missing. The order of effects, and what a loss or a crash after each of them leaves:
 *
 *   1. the start, which is lost together with whatever is published after it: in the hot state a document, and an
 *      entry in each partition. There is no progress for it yet, so the next round begins anew.
 *   2. the queue, committed. Some of it may be carried out at once, by whichever process.
 *   3. progress, which says that the queue is there. It names the start: a start that was lost meanwhile is not brought
 *      back by it.
 *
 * Queued twice does no harm. Processes that see the same loss take turns, and the second one finds it made good.
 */
export async function queueLost(parts: PublisherParts): Promise<PublishedLoss['kind']> {
  if (isWhole(await readPublicationState(parts))) return 'nothing'
  return await parts.database.control.begin(async (sql): Promise<PublishedLoss['kind']> => {
    await takeTurn(sql)
    const state = await readPublicationState(parts)
    const lives = await parts.hotState.lives()
    const loss = judgeLoss(state, lives, parts.hotState)
    if (loss.kind === 'nothing') return loss.kind
    const id = randomUUID()
    await writeStart(parts, { id, incarnation: state.incarnation, lives })
    const queuedTo = await queue(parts, loss)
    await writeProgress(parts, { id, queuedTo, published: [] })
    return loss.kind
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
async function queue(parts: PublisherParts, loss: PublishedLoss): Promise<Record<string, string>> {
  const { partitionCount } = parts
  const spaces: readonly PublicationSpace[] = ['control', ...environments]
  const queuedTo: Record<string, string> = {}
  for (const space of spaces) {
    queuedTo[space] = await poolOf(parts, space).begin(async (sql) => {
      await sql`select set_config('statement_timeout', ${queueTimeout}, true)`
      if (loss.kind === 'everything') await queueEverything(sql, space)
      if (loss.kind === 'some') {
        await queueLostPlaces(sql, space, { isLost: loss.isLost, partitionCount })
      }
      const [row] = await sql<{ last: string }[]>`
        select coalesce(max(id), 0)::text as last from publications`
      return row!.last
    })
  }
  return queuedTo
}
