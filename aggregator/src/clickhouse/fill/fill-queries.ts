import type { MigrationWork } from '@tollgate/platform/usage-store/clickhouse/migrations'
import {
  onCluster,
  type MigratedPlace,
} from '@tollgate/platform/usage-store/clickhouse/migrated-place'

/** The beginning of the comments of all queries that fill roll-ups. */
export const fillComment = 'tollgate roll-up fill'

/** Returns the comment of the queries of one process, or the beginning of all comments in this database if `owner` is empty. */
export function commentOf({ database }: MigratedPlace, owner: string): string {
  return `${fillComment} ${database} ${owner}`
}

/** Ends the queries of one process, or of all if `owner` is empty. It does not wait, because their results are not used. */
export async function killQueries({ store, place }: MigrationWork, owner: string): Promise<void> {
  await store.command(
    `KILL QUERY${onCluster(place)} WHERE startsWith(Settings['log_comment'], '${commentOf(place, owner)}') ASYNC`,
  )
}
