import { environments } from '@tollgate/schemas/environment'
import { StartRefusedError } from '../../standalone/start-refused.ts'
import type { Source } from './source.ts'

/**
 * Throws while ClickHouse contains debits of wallets that the ledger has not posted. Rows have no position in the new log, so the
 * ledger would never post them there. Records that are only in the log are moved with the log.
 */
export async function requireDebitsPosted({
  database,
  usageStore,
  partitions,
}: Pick<Source, 'database' | 'usageStore' | 'partitions'>): Promise<void> {
  for (const environment of environments) {
    const positions = await database.in(environment)<{ partition: number; next: bigint }[]>`
      select log_partition as partition, next_offset as next from debit_positions`
    const postedTo = new Map(positions.map(({ partition, next }) => [partition, next]))
    for (const { partition, storedTo } of partitions.filter(
      (each) => each.environment === environment,
    )) {
      const [row] = await usageStore.query<{ waiting: string }>(
        `SELECT count() AS waiting FROM ${environment}.credit_debits FINAL
         WHERE log_partition = {partition:UInt32} AND log_offset < {storedTo:UInt64}
           AND log_offset >= {postedTo:UInt64}`,
        { partition, storedTo, postedTo: Number(postedTo.get(partition) ?? 0n) },
      )
      if (row !== undefined && row.waiting !== '0') throw debitsPending(row.waiting)
    }
  }
}

function debitsPending(waiting: string): StartRefusedError {
  return new StartRefusedError(
    `The ledger has not posted ${waiting} usage records that were paid from wallets. ` +
      'Start this installation again, let it run without traffic for some seconds, stop it, and migrate again.',
  )
}
