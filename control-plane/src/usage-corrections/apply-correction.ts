import { jobActor, setActor } from '@tollgate/domain/audit/actor'
import { noteCorrectedPeriods, oneOfEachSecond } from '@tollgate/domain/invoices/corrected-periods'
import {
  addChanges,
  noteFailure,
  releaseCorrection,
  storeProgress,
  type ClaimedCorrection,
} from '@tollgate/domain/usage-corrections/repository'
import type { Environment } from '@tollgate/schemas/environment'
import type { CorrectionParts } from './correction-parts.ts'
import { isExpectedFailure } from './expected-failure.ts'
import { planPage, sumChanges, type ChangedRecord } from './plan-page.ts'
import { readPage, type Page } from './read-page.ts'

const corrector = jobActor('apply-corrections')

/** Time after which another process continues a correction whose process died, in milliseconds. A page takes far less. */
export const correctionLeaseMs = 60_000

const failureCharsMax = 500

/**
 * Applies pages of a claimed correction until it is finished, or until `isStopping` returns true. Order of effects of a page:
 *
 *  read the records and what is left of them -> append the differences to the log
 *    -> one transaction: progress, changes, billed periods to look at again
 *
 * After a crash before the append, nothing has changed. After a crash behind it, the next process reads the same records, finds the
 * differences that this correction has appended, and does not append them again. Records that were appended twice would have the same
 * ids and count once. The periods are noted only after the append, so a bill that has read the note has the differences in its sums.
 * A period that a bill claims before it can read the note is one of the newest periods, at which the next bill looks anyway.
 *
 * A part that is behind or does not answer lets the correction wait. After too many other errors it is set aside, with its progress.
 *
 * If the lease has ended meanwhile, another process has claimed the correction: it appends the same ids, and this process stores nothing.
 */
export async function applyCorrection(
  parts: CorrectionParts,
  environment: Environment,
  claimed: ClaimedCorrection,
  isStopping: () => boolean,
): Promise<void> {
  let { correction } = claimed
  const { providerId } = claimed
  const scope = { environment, providerId }
  const pool = parts.publisher.database.in(environment)
  try {
    for (;;) {
      if (isStopping()) return
      const page = await readPage(parts, scope, { ...correction, after: correction.cursor })
      const planned = planPage(scope, correction.reference, correction, page.records)
      if (planned.toAppend.length > 0) await parts.appendRecords(scope, planned.toAppend)
      const isStored = await storePage(parts, environment, claimed, {
        ...planned,
        readTo: page.readTo,
        cursor: page.cursor,
        isLast: page.isLast,
      })
      if (!isStored || page.isLast) return
      correction = { ...correction, readTo: page.readTo, cursor: page.cursor }
    }
  } catch (error) {
    if (!isExpectedFailure(error)) {
      const failure = error instanceof Error ? error.message : String(error)
      await noteFailure(pool, claimed, failure.slice(0, failureCharsMax), parts.correctionLimits)
    }
    throw error
  } finally {
    await releaseCorrection(pool, claimed)
  }
}

async function storePage(
  { publisher }: CorrectionParts,
  environment: Environment,
  claimed: ClaimedCorrection,
  page: Pick<Page, 'readTo' | 'cursor' | 'isLast'> & {
    readonly changed: readonly ChangedRecord[]
    readonly skipped: number
  },
): Promise<boolean> {
  const { providerId, correction } = claimed
  const { readTo, cursor, isLast, changed, skipped } = page
  const now = publisher.now()
  return publisher.database.in(environment).begin(async (sql) => {
    setActor(sql, corrector)
    const isStored = await storeProgress(sql, claimed, {
      readTo,
      cursor,
      corrected: changed.length,
      skipped,
      appliedAt: isLast ? now : null,
      leaseMs: correctionLeaseMs,
    })
    if (!isStored) return false
    await addChanges(sql, providerId, correction.reference, [...sumChanges(changed).values()])
    const touched = oneOfEachSecond(changed.map(({ record }) => record))
    await noteCorrectedPeriods(sql, providerId, touched, now)
    return true
  })
}
