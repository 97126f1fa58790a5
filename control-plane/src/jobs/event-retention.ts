import { deleteOldEvents } from '@tollgate/domain/outbox/delete-old-events'
import { eraseAnswers } from '@tollgate/domain/webhooks/answer-erasures'
import type { Service } from '@tollgate/platform/service/service'
import type { Environment } from '@tollgate/schemas/environment'
import { repeatingInEach, type JobParts } from './repeating.ts'

const eventsPerTransaction = 1_000

/** Deletes events that are older than `keptMs` and have no delivery left to send. Several processes may run it at the same time. */
export function createEventRetention(
  { publisher, logger }: JobParts,
  limits: { readonly keptMs: number; readonly intervalMs: number },
): Service {
  const deleteOld = async (environment: Environment): Promise<void> => {
    const emittedBefore = new Date(publisher.now().getTime() - limits.keptMs)
    const pool = publisher.database.in(environment)
    const deleted = await deleteOldEvents(pool, emittedBefore, eventsPerTransaction)
    if (deleted > 0) logger.info({ environment, deleted }, 'old events were deleted')
  }
  return repeatingInEach(
    logger,
    'could not delete old events; the next round retries',
    deleteOld,
    limits.intervalMs,
  )
}

/** Erases the bodies of receivers' responses to events of erased customers. */
export function createResponseErasure(
  { publisher, logger }: JobParts,
  intervalMs: number,
): Service {
  const erase = (environment: Environment): Promise<void> =>
    eraseAnswers(publisher.database.in(environment), publisher.now(), eventsPerTransaction)
  return repeatingInEach(
    logger,
    'could not erase responses of receivers; the next round retries',
    erase,
    intervalMs,
  )
}
