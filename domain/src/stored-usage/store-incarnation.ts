import {
  UsageStoreStatementError,
  type UsageStore,
} from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { readSinkNote } from '@tollgate/schemas/sink-note'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'

type Store = Pick<UsageStore, 'query'>

/**
 * Returns the name of the current incarnation of the usage store: of one run of a single server, or of one set of data on a
 * cluster, where a restarted replica fetches what it lacks. A single server gets a new incarnation with every restart, because an
 * older copy may have been put in its place. Undefined if no sink has named this incarnation yet.
 */
export async function readStoreIncarnation(
  store: Store,
  environment: Environment,
): Promise<string | undefined> {
  try {
    const [row] = await store.query<{ tableId: string; id: string }>(
      `SELECT min(id) AS id, (
         SELECT if(engine = 'Distributed', '', toString(uuid)) FROM system.tables
         WHERE database = {database:String} AND name = 'usage_records'
       ) AS tableId
       FROM ${environment}.store_life`,
      { database: environment },
    )
    return row === undefined || row.id === '' ? undefined : `${row.tableId}/${row.id}`
  } catch (error) {
    if (error instanceof UsageStoreStatementError && missing.has(error.code)) return undefined
    throw error
  }
}

/** UNKNOWN_TABLE and UNKNOWN_DATABASE: no sink of this release has opened the store yet. */
const missing = new Set([60, 81])

/**
 * Returns whether the store is still in the incarnation in which the sink compared it with the log. `notes` are stored with the
 * sink's positions. Notes of earlier releases name no incarnation and are accepted.
 */
export async function isComparedStore(
  store: Store,
  environment: Environment,
  notes: readonly string[],
): Promise<boolean> {
  const incarnations = new Set(notes.map((note) => readSinkNote(note)?.comparedIncarnation))
  incarnations.delete(undefined)
  if (incarnations.size === 0) return true
  const incarnation = await readStoreIncarnation(store, environment)
  return incarnations.size === 1 && incarnation !== undefined && incarnations.has(incarnation)
}

/**
 * Throws UsageBehindError if the store is in another incarnation. It is called after sums were read: an incarnation that has ended
 * does not come back, so it lasted while they were read.
 */
export async function requireComparedStore(
  store: Store,
  environment: Environment,
  notes: readonly string[],
): Promise<void> {
  if (!(await isComparedStore(store, environment, notes))) throw new UsageBehindError(0)
}
