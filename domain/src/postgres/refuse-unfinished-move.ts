import type { Queryable } from '@tollgate/platform/database/database'

/** A move of an installation into this database is not complete. */
export class UnfinishedMoveError extends Error {
  override readonly name = 'UnfinishedMoveError'
}

/** Throws if the migrate command has begun to fill this installation and has not verified that it is complete. */
export async function refuseUnfinishedMove(sql: Queryable): Promise<void> {
  const [move] = await sql<{ started_at: Date }[]>`
    select started_at from moved_from where finished_at is null`
  if (move === undefined) return
  throw new UnfinishedMoveError(
    `A move of another installation into this one is unfinished since ${move.started_at.toISOString()}. ` +
      'Complete it with npm run tollgate -- migrate.',
  )
}
