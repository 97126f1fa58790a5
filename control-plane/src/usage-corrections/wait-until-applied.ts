import { setTimeout as sleep } from 'node:timers/promises'
import { claimCorrections, hasUnapplied } from '@tollgate/domain/usage-corrections/repository'
import type { Logger } from '@tollgate/platform/observability/logger'
import { applyCorrection, correctionLeaseMs } from './apply-correction.ts'
import { isExpectedFailure } from './expected-failure.ts'
import type { CorrectionParts } from './correction-parts.ts'
import type { CorrectionScope } from './read-page.ts'

const pollIntervalMs = 50

/**
 * Applies the provider's corrections until the corrections with these references are applied, or until `waitMs` is over. The job applies
 * the rest. After a failure, for example because the usage store is behind, the job continues too: the request has stored its
 * corrections, and the correction that failed may be an earlier one.
 */
export async function waitUntilApplied(
  parts: CorrectionParts & { readonly logger: Logger },
  { environment, providerId }: CorrectionScope,
  references: readonly string[],
): Promise<void> {
  const pool = parts.publisher.database.in(environment)
  const rows = parts.publisher.database.of(providerId).in(environment)
  const deadlineMs = performance.now() + parts.correctionLimits.waitMs
  const isOver = (): boolean => performance.now() >= deadlineMs
  while (!isOver()) {
    const [claimed] = await claimCorrections(pool, {
      rowsMax: 1,
      leaseMs: correctionLeaseMs,
      providerId,
    })
    if (claimed === undefined) {
      const isWaiting = await rows.read((sql) => hasUnapplied(sql, providerId, references))
      if (!isWaiting) return
      await sleep(pollIntervalMs)
      continue
    }
    try {
      await applyCorrection(parts, environment, claimed, isOver)
    } catch (err) {
      const { reference } = claimed.correction
      const level = isExpectedFailure(err) ? 'warn' : 'error'
      parts.logger[level]({ err, environment, reference }, 'a correction of usage waits')
      return
    }
  }
}
