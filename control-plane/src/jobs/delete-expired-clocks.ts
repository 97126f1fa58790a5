import { listExpiredClocks } from '@tollgate/domain/test-clocks/repository'
import { pauseTestClock } from '@tollgate/domain/test-clocks/manage-test-clocks'
import { jobOperation } from '@tollgate/domain/unit-of-work/job-operation'
import type { Service } from '@tollgate/platform/service/service'
import { commit } from '../access/commit.ts'
import { deleteTestClock, type ClockDeletionParts } from '../test-clocks/delete-test-clock.ts'
import { repeating, reportFailure } from './repeating.ts'

/** Clocks that one round deletes, so that a stop does not wait for longer. */
const clocksPerRoundMax = 10

/**
 * Deletes test clocks at the end of their lifetime, and before real time reaches them. Several processes may run it: a customer is
 * deleted once.
 */
export function createClockDeletion(parts: ClockDeletionParts, intervalMs: number): Service {
  const round = async (): Promise<void> => {
    await reportFailure(
      () => deleteExpired(parts),
      (err) => parts.logger.error({ err }, 'could not delete test clocks; the next round retries'),
    )
  }
  return repeating(round, intervalMs)
}

async function deleteExpired(parts: ClockDeletionParts): Promise<void> {
  const { publisher, logger } = parts
  const environment = 'sandbox'
  const expired = await listExpiredClocks(
    publisher.database.in(environment),
    publisher.now(),
    clocksPerRoundMax,
  )
  for (const { providerId, reference } of expired) {
    const operation = jobOperation('test-clocks', { providerId, environment }, publisher.now())
    await reportFailure(
      async () => {
        await commit(parts, operation, (work) => pauseTestClock(work, reference))
        await deleteTestClock(parts, operation, reference)
      },
      (err) => logger.error({ err, reference }, 'could not delete a test clock'),
    )
  }
}
