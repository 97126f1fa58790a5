import { randomUUID } from 'node:crypto'
import { environments } from '@tollgate/schemas/environment'
import type { Queryable } from '@tollgate/platform/database/database'
import { isComplete, judgeLoss, type PublishedLoss } from './judge-loss.ts'
import { readPublicationState, writeProgress, writeStart } from './publication-state.ts'
import type { PublicationSpace } from '../publications/repository.ts'
import { poolOf } from './publisher.ts'
import type { PublisherParts } from './publisher-parts.ts'
import { queueEverything, queueLostPlaces } from '../publications/queue-targets.ts'

/**
 * Queues what hot state lost. Everything is queued if hot state is new, was wiped, or is another server's copy. If one of several
 * servers restarted or was replaced, what it stored is queued. If a partition is missing, its customers are queued. The order of
 * effects, and what a loss or a crash after each of them leaves:
 *
 *   1. The start is written. It is lost together with anything published after it: it is a document in hot state, and an
 *      entry in each partition. It has no progress yet, so the next round begins again.
 *   2. The queue is committed. Any process can already publish some of it.
 *   3. The progress is written, which records that the queue is complete. It names the start, so it does not bring back a
 *      start that was lost meanwhile.
 *
 * Queueing twice does no harm. Processes that see the same loss take turns, and the second one finds it already repaired.
 */
export async function queueLost(parts: PublisherParts): Promise<PublishedLoss['kind']> {
  if (isComplete(await readPublicationState(parts))) return 'nothing'
  return await parts.database.control.begin(async (sql): Promise<PublishedLoss['kind']> => {
    await lockQueueing(sql)
    const state = await readPublicationState(parts)
    const lives = await parts.hotState.lives()
    const loss = judgeLoss(state, lives, parts.hotState)
    if (loss.kind === 'nothing') return loss.kind
    const id = randomUUID()
    await writeStart(parts, { id, incarnation: state.incarnation, lives })
    const queuedTo = await queueLoss(parts, loss)
    await writeProgress(parts, { id, queuedTo, published: [] })
    return loss.kind
  })
}

/** Locks queueing for other processes until the transaction ends. While this process works it is idle, so its timeout is raised. */
async function lockQueueing(sql: Queryable): Promise<void> {
  await sql`select set_config('idle_in_transaction_session_timeout', ${queueTimeout}, true)`
  await sql`select pg_advisory_xact_lock(hashtextextended('queue lost publications', 0))`
}

/** Queueing millions of customers takes minutes. */
const queueTimeout = '300s'

/**
 * Queues what was lost. Returns the id of the last publication in each space. Everything queued here has this id or a smaller one.
 */
async function queueLoss(
  parts: PublisherParts,
  loss: PublishedLoss,
): Promise<Record<string, string>> {
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
