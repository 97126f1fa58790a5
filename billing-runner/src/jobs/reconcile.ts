import { countHeldInvoices } from '@tollgate/domain/invoices/unpaid'
import { listOpenClearing } from '@tollgate/domain/money-ledger/open-clearing'
import { findSoleProvider } from '@tollgate/domain/providers/repository'
import { comparedKinds } from '@tollgate/domain/reconciliation/finding'
import {
  reconcile,
  type ReconciliationOutcome,
  type ReconcileParts,
} from '@tollgate/domain/reconciliation/reconcile'
import { countUnrepairedFindings } from '@tollgate/domain/reconciliation/reports-repository'
import type { Scope } from '@tollgate/domain/reconciliation/scope'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { BillingRunnerConfig } from '../config.ts'
import type { JobMetrics } from '../metrics.ts'
import { paymentPartsOf, type Parts } from '../open-parts.ts'
import type { ScheduledJob } from './job-catalogue.ts'

export type ReconciliationRequest = {
  readonly environment: Environment
  readonly providerId?: string | undefined
  /** Start of the compared time. Undefined means the configured number of days ago. */
  readonly since?: Date | undefined
  readonly stopping?: AbortSignal
}

const dayMs = 86_400_000

/** Runs one reconciliation, stores its reports and logs the differences. */
export async function runReconciliation(
  config: BillingRunnerConfig,
  parts: Parts,
  { environment, providerId, since, stopping }: ReconciliationRequest,
): Promise<ReconciliationOutcome> {
  const nowMs = parts.clock.now()
  const graceMs = config.reconcileGraceMinutes * 60_000
  const from = truncateToSecond(since?.getTime() ?? nowMs - config.reconcileDays * dayMs)
  // The interval excludes its end, so one second is added: without a grace period, changes of the current second are compared as
  // well.
  const to = truncateToSecond(nowMs - graceMs + 1_000)
  const scope: Scope = { environment, providerId, from, to, graceMs, stopping }
  const limits = { findingsMax: config.reconcileFindingsMax }
  const outcome = await reconcile(partsOf(config, parts), scope, limits)
  logOutcome(parts.logger, environment, outcome)
  return outcome
}

function partsOf(config: BillingRunnerConfig, parts: Parts): ReconcileParts {
  const { eventLog, hotState, usageStore } = parts
  const payments = paymentPartsOf(config, parts)
  const { usageStoredWaitMs: storedWaitMs, reconcileLookAgainMs: recheckPauseMs } = config
  return {
    ...payments,
    counting: { eventLog, hotState, usageStore, storedWaitMs, recheckPauseMs, now: payments.now },
  }
}

/** Creates the nightly reconciliation, which also counts money that has not moved for long. */
export function createReconciliation(
  config: BillingRunnerConfig,
  parts: Parts,
  metrics: Pick<JobMetrics, 'findings' | 'heldInvoices' | 'openClearing'>,
): ScheduledJob {
  return {
    job: {
      kind: 'whole',
      name: 'reconciliation',
      perform: async (environment, stopping) => {
        await runReconciliation(config, parts, { environment, stopping })
      },
      ended: async (environment) => {
        const space = environment
        const pool = parts.database.in(environment)
        const openFindings = await countUnrepairedFindings(pool)
        for (const kind of comparedKinds) {
          metrics.findings.set({ kind, space }, openFindings.get(kind) ?? 0)
        }
        metrics.heldInvoices.set({ space }, await countHeldInvoices(pool))
        metrics.openClearing.set({ space }, await countOpenClearing(config, parts, environment))
      },
    },
    schedule: config.reconciliation,
    spaces: environments,
  }
}

/**
 * Counts currencies with money that stays at the processor for too long. Returns 0 if several providers share the processor's
 * account, because its payouts then belong to the operator.
 */
async function countOpenClearing(
  { clearingOpenDays }: BillingRunnerConfig,
  { clock, database }: Parts,
  environment: Environment,
): Promise<number> {
  const providerId = await findSoleProvider(database.control, environment)
  if (providerId === undefined) return 0
  const since = new Date(clock.now() - clearingOpenDays * dayMs)
  return (await listOpenClearing(database.in(environment), providerId, since)).length
}

function logOutcome(
  logger: Parts['logger'],
  environment: Environment,
  outcome: ReconciliationOutcome,
): void {
  for (const { providerId, reference, found, repaired, gaps } of outcome.reports) {
    const report = { environment, providerId, reference, found, repaired, gaps }
    if (found > repaired)
      logger.error(
        report,
        'reconciliation found differences that are not repaired; see docs/operations.md, Reconciliation',
      )
    else if (found > 0 || gaps.length > 0)
      logger.warn(report, 'reconciliation repaired differences or could not compare everything')
  }
  for (const finding of outcome.withoutProvider) {
    logger.error({ environment, finding }, 'the processor has an object of an unknown provider')
  }
}

function truncateToSecond(ms: number): Date {
  return new Date(Math.floor(ms / 1_000) * 1_000)
}
