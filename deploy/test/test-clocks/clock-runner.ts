import { randomUUID } from 'node:crypto'
import { readBillingRunnerConfig } from '@tollgate/billing-runner/config'
import { createJobs } from '@tollgate/billing-runner/jobs/job-catalogue'
import {
  openParts,
  paymentPartsOf,
  publisherOf,
  type Parts,
} from '@tollgate/billing-runner/open-parts'
import { advanceClock } from '@tollgate/billing-runner/test-clocks/advance-clock'
import { runReconciliation } from '@tollgate/billing-runner/jobs/reconcile'
import { createClockJobs } from '@tollgate/billing-runner/test-clocks/clock-jobs'
import { createCreditExpiry } from '@tollgate/billing-runner/test-clocks/expire-credits'
import { createSettlePayments } from '@tollgate/billing-runner/test-clocks/settle-payments'
import { createSavedCardCharger } from '@tollgate/domain/charging/charge-saved-card'
import type { ReconciliationOutcome } from '@tollgate/domain/reconciliation/reconcile'
import { claimAdvancingClock } from '@tollgate/domain/test-clocks/advance-lease'
import { createLogger } from '@tollgate/platform/observability/logger'
import { killable, killableDatabase, KillSwitch } from '../year/kill-after-effects.ts'
import type { ClockStack } from './clock-stack.ts'

/** Milliseconds for which a dead runner holds its clock. */
const leaseMs = 100

/** Runs clocks in processes that may die. */
export class ClockRunner {
  readonly #parts: Parts & { close(): Promise<void> }
  readonly config: ReturnType<typeof readBillingRunnerConfig>

  private constructor(config: ClockRunner['config'], parts: Parts & { close(): Promise<void> }) {
    this.config = config
    this.#parts = parts
  }

  static async open({ stack }: ClockStack, overrides: Partial<Parts> = {}): Promise<ClockRunner> {
    const config = readBillingRunnerConfig({
      ...stack.environment,
      TOLLGATE_BILLING_CLAIM_LEASE_MS: String(leaseMs),
    })
    const { database, eventLog, hotState } = stack
    const logger = createLogger('test', 'silent')
    const parts = await openParts(config, { database, eventLog, hotState, logger, ...overrides })
    return new ClockRunner(config, parts)
  }

  close(): Promise<void> {
    return this.#parts.close()
  }

  /** Compares everything that was made until now with its sources, at a time of the clocks. */
  async reconcile(at: Date): Promise<ReconciliationOutcome> {
    const parts = { ...this.#parts, clock: { now: () => at.getTime() } }
    return runReconciliation({ ...this.config, reconcileGraceMinutes: 0 }, parts, {
      environment: 'sandbox',
      since: new Date(Date.now() - 86_400_000),
    })
  }

  /** Advances a clock that waits, in a process that dies after `effects`. Returns false if no clock waits or is free. */
  async run(effects?: number): Promise<boolean> {
    const killSwitch = new KillSwitch(effects)
    const parts = this.#killableParts(killSwitch)
    const jobs = createClockJobs(
      createJobs(this.config, parts),
      createCreditExpiry(this.config, parts),
    )
    const pool = this.#parts.database.in('sandbox')
    const clock = await claimAdvancingClock(pool, randomUUID(), leaseMs)
    if (clock === undefined) return false
    const settlePayments = createSettlePayments(paymentPartsOf(this.config, parts))
    const { logger } = parts
    const advancing = {
      ...{ publisher: publisherOf(parts), logger, limits: this.config, settlePayments },
    }
    try {
      await advanceClock(advancing, jobs, clock, new AbortController().signal)
    } catch (error) {
      // Errors of a dead process are ignored.
      if (!killSwitch.isKilled) throw error
    }
    return true
  }

  #killableParts(killSwitch: KillSwitch): Parts {
    const { database, hotState, processors } = this.#parts
    const parts = {
      ...this.#parts,
      database: killableDatabase(database, killSwitch),
      hotState: killable(hotState, killSwitch),
      processors: {
        ...processors,
        of: (environment: 'sandbox' | 'live') => {
          const processor = processors.of(environment)
          return processor && killable(processor, killSwitch)
        },
      },
    }
    const charge = createSavedCardCharger({
      ...parts,
      now: publisherOf(this.#parts).now,
      hostedUrl: 'https://pay.example',
    })
    return { ...parts, charge }
  }
}
