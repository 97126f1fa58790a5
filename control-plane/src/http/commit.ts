import { publish } from '@tollgate/domain/publications/publisher'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import type { Operation, UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { AppParts } from './app-parts.ts'

/**
 * Commits what the body did, then publishes what it queued, then returns: whoever is answered finds the change in the
 * data plane as well. A crash between the two is made good at the next start. When the hot state does not answer, the
 * change stands and is answered; the publication waits for the hot state to come back.
 */
export async function commit<Result>(
  parts: Pick<AppParts, 'database' | 'publisher' | 'logger'>,
  operation: Operation,
  body: (work: UnitOfWork) => Promise<Result>,
): Promise<Result> {
  const { environment } = operation
  const { result, publications } = await runUnitOfWork(parts.database, operation, body)
  for (const target of publications) {
    try {
      await publish(parts.publisher, environment, target, 'pending')
    } catch (error) {
      parts.logger.error({ err: error, target }, 'committed, but not published yet')
    }
  }
  return result
}
