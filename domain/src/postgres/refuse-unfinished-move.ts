import type { Queryable } from '@tollgate/platform/database/database'

/** An installation is on its way into this database, and not all of it is there. */
export class UnfinishedMoveError extends Error {
  override readonly name = 'UnfinishedMoveError'
}

/** Throws while the migrate command has begun to fill the engines and has not found them complete. */
export async function refuseUnfinishedMove(sql: Queryable): Promise<void> {
  const [move] = await sql<{ started_at: Date }[]>`
    select started_at from moved_from where finished_at is null`
  if (move === undefined) return
  throw new UnfinishedMoveError(
    `An installation is being moved here since ${move.started_at.toISOString()}: ` +
      'let npm run tollgate -- migrate come to its end first.',
  )
}
