import type { ProviderDatabases } from '@tollgate/platform/database/database'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { AskOutside } from '../unit-of-work/outside-question.ts'
import { runUnitOfWork } from '../unit-of-work/run-unit-of-work.ts'
import type { Operation, UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { publish } from './publisher.ts'
import type { PublisherParts } from './publisher-parts.ts'

export type CommitParts = {
  readonly database: ProviderDatabases
  readonly publisher: PublisherParts
  readonly logger: Logger
  /** Asks servers of providers. Absent: an operation that needs such an answer fails. */
  readonly ask?: AskOutside | undefined
}

/**
 * Commits the body's transaction, publishes what it queued, and then returns, so that the data plane has the change before the
 * client gets its response. After a crash in between, the next start of a control plane publishes it. If hot state does not answer,
 * the change stays committed and the client gets its response. The publication stays queued until hot state is back.
 */
export async function commitAndPublish<Result>(
  parts: CommitParts,
  operation: Operation,
  body: (work: UnitOfWork) => Promise<Result>,
): Promise<Result> {
  const { environment } = operation
  const { result, publications } = await runUnitOfWork(parts.database, operation, body, parts.ask)
  for (const target of publications) {
    try {
      await publish(parts.publisher, environment, target, 'pending')
    } catch (error) {
      parts.logger.error({ err: error, target }, 'committed, but not published yet')
    }
  }
  return result
}
