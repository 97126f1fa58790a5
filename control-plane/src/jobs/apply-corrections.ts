import { claimCorrections } from '@tollgate/domain/usage-corrections/repository'
import type { Service } from '@tollgate/platform/service/service'
import type { Environment } from '@tollgate/schemas/environment'
import { applyCorrection, correctionLeaseMs } from '../usage-corrections/apply-correction.ts'
import type { CorrectionParts } from '../usage-corrections/correction-parts.ts'
import { isExpectedFailure } from '../usage-corrections/expected-failure.ts'
import { repeatingInEach, reportFailure, type JobParts } from './repeating.ts'

/** Corrections of one claim. They are of different providers, and are applied one after the other. */
const correctionsPerClaimMax = 10

/**
 * Applies requested corrections of usage. Several processes may run it: each correction has a lease, and those of one provider are
 * applied in the order of their requests. A correction that fails, for example because the usage store is behind, is tried again in
 * the next round.
 */
export function createCorrectionJob(
  parts: CorrectionParts & JobParts,
  intervalMs: number,
): Service {
  let isStopping = false
  const message = 'could not apply corrections of usage; the next round retries'
  const rounds = repeatingInEach(
    parts.logger,
    message,
    (environment) => applyWaiting(parts, environment, () => isStopping),
    intervalMs,
  )
  return {
    start: () => rounds.start(),
    stop: () => {
      isStopping = true
      return rounds.stop()
    },
  }
}

async function applyWaiting(
  parts: CorrectionParts & JobParts,
  environment: Environment,
  isStopping: () => boolean,
): Promise<void> {
  const pool = parts.publisher.database.in(environment)
  const claim = { rowsMax: correctionsPerClaimMax, leaseMs: correctionLeaseMs }
  for (;;) {
    let isAllApplied = true
    const claimed = await claimCorrections(pool, claim)
    for (const each of claimed) {
      await reportFailure(
        () => applyCorrection(parts, environment, each, isStopping),
        (err) => {
          isAllApplied = false
          const level = isExpectedFailure(err) ? 'warn' : 'error'
          const { reference } = each.correction
          parts.logger[level](
            { err, environment, reference },
            'could not apply a correction of usage; the next round retries',
          )
        },
      )
    }
    if (claimed.length === 0 || !isAllApplied || isStopping()) return
  }
}
