import { listReceivingProviders } from '@tollgate/domain/webhooks/receiving-providers'
import { environments } from '@tollgate/schemas/environment'
import { StartRefusedError } from '../../standalone/start-refused.ts'
import type { Source } from './source.ts'

/**
 * Throws while webhook endpoints have not been notified of all stored usage. Stored usage has no position in the new log, so the
 * notifications would never be sent there.
 */
export async function requireUsageEventsSent({
  database,
  partitions,
}: Pick<Source, 'database' | 'partitions'>): Promise<void> {
  for (const environment of environments) {
    const sql = database.in(environment)
    if ((await listReceivingProviders(sql, 'usage.recorded')).size === 0) continue
    const positions = await sql<{ partition: number; next: bigint }[]>`
      select log_partition as partition, next_offset as next from usage_event_positions`
    const reportedTo = new Map(positions.map(({ partition, next }) => [partition, Number(next)]))
    for (const { environment: of, partition, storedTo } of partitions) {
      if (of === environment && (reportedTo.get(partition) ?? 0) < storedTo)
        throw usageEventsPending()
    }
  }
}

function usageEventsPending(): StartRefusedError {
  return new StartRefusedError(
    'Webhooks have not reported all stored usage yet. ' +
      'Start this installation again, let it run without traffic for some seconds, stop it, and migrate again.',
  )
}
