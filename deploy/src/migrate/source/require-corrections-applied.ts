import { environments } from '@tollgate/schemas/environment'
import { StartRefusedError } from '../../standalone/start-refused.ts'
import type { Source } from './source.ts'

/**
 * Throws while a correction of usage is not applied. The correction has offsets of this log, which other records have in the new log.
 */
export async function requireCorrectionsApplied({
  database,
}: Pick<Source, 'database'>): Promise<void> {
  for (const environment of environments) {
    const waiting = await database.in(environment)`
      select from usage_corrections where status <> 'applied' limit 1`
    if (waiting.length > 0) {
      throw new StartRefusedError(
        'A correction of usage is not applied yet. ' +
          'Start this installation again, wait until all corrections are applied, stop it, and migrate again.',
      )
    }
  }
}
