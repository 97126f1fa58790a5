import type { ProviderDatabases } from '@tollgate/platform/database/database'
import type { Logger } from '@tollgate/platform/observability/logger'
import { runUnitOfWork } from '../unit-of-work/run-unit-of-work.ts'
import type { Operation, UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { publish } from './publisher.ts'
import type { PublisherParts } from './publisher-parts.ts'

export type CommitParts = {
  readonly database: ProviderDatabases
  readonly publisher: PublisherParts
  readonly logger: Logger
}

/**
 * Commits what the body did, then publishes what it queued, then returns: whoever is answered finds the change in the
 * data plane as well. A crash between the two is made good at the next start of a control plane. When the hot state does
 * not answer, the change stands and is answered; the publication waits for the hot state to come back.
 */
export async function commitAndPublish<Result>(
  parts: CommitParts,
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
