import { randomUUID } from 'node:crypto'
import type { Queryable } from '@tollgate/platform/database/database'
import type { Source } from '../source/source.ts'

/** Progress of the move, stored in the target's database. */
export type Journal = {
  /** Random id of the move. */
  readonly moveId: string
  readonly isFinished: boolean
  /** Returns the progress of a step, or undefined if it has not begun. */
  read<State>(step: string): State | undefined
  /** Stores the progress of a step in the given transaction. */
  write(sql: Queryable, step: string, state: unknown): Promise<void>
  finish(sql: Queryable): Promise<void>
}

type Row = {
  readonly source_id: string
  readonly source_state: string
  readonly move_id: string
  readonly steps: Record<string, unknown>
  readonly finished_at: Date | null
}

export type MoveFound =
  | { readonly kind: 'none' }
  | { readonly kind: 'another-source' }
  | { readonly kind: 'source-changed'; readonly isFinished: boolean }
  | { readonly kind: 'ours'; readonly journal: Journal }

/** Returns the move that is recorded in the database. The database may have no tables yet. */
export async function findMove(
  sql: Queryable,
  { id, state }: Pick<Source, 'id' | 'state'>,
): Promise<MoveFound> {
  const [table] = await sql<{ found: boolean }[]>`
    select to_regclass('control.moved_from') is not null as found`
  if (!table!.found) return { kind: 'none' }
  const [row] = await sql<Row[]>`
    select source_id, source_state, move_id, steps, finished_at from control.moved_from`
  if (row === undefined) return { kind: 'none' }
  if (row.source_id !== id) return { kind: 'another-source' }
  if (row.source_state !== state) {
    return { kind: 'source-changed', isFinished: row.finished_at !== null }
  }
  return { kind: 'ours', journal: journalOf(row) }
}

export async function beginMove(
  sql: Queryable,
  { id, state }: Pick<Source, 'id' | 'state'>,
): Promise<Journal> {
  const moveId = randomUUID()
  await sql`
    insert into control.moved_from (source_id, source_state, move_id, started_at)
    values (${id}, ${state}, ${moveId}, now())`
  return journalOf({
    source_id: id,
    source_state: state,
    move_id: moveId,
    steps: {},
    finished_at: null,
  })
}

function journalOf({ move_id: moveId, steps, finished_at: finishedAt }: Row): Journal {
  return {
    moveId,
    isFinished: finishedAt !== null,
    read: <State>(step: string) => steps[step] as State | undefined,
    async write(sql, step, state) {
      await sql`
        update control.moved_from
        set steps = steps || jsonb_build_object(${step}::text, ${JSON.stringify(state)}::text::jsonb)`
      steps[step] = state
    },
    async finish(sql) {
      await sql`update control.moved_from set finished_at = now()`
    },
  }
}
