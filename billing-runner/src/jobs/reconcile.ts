import { countHeldInvoices } from '@tollgate/domain/invoices/unpaid'
import { listOpenClearing } from '@tollgate/domain/money-ledger/open-clearing'
import { findSoleProvider } from '@tollgate/domain/providers/repository'
import { comparedKinds } from '@tollgate/domain/reconciliation/finding'
import {
  reconcile,
  type Outcome,
  type ReconcileParts,
} from '@tollgate/domain/reconciliation/reconcile'
import { countStanding } from '@tollgate/domain/reconciliation/reports-repository'
import type { Scope } from '@tollgate/domain/reconciliation/scope'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { BillingRunnerConfig } from '../config.ts'
import type { JobMetrics } from '../metrics.ts'
import { paymentPartsOf, type Parts } from '../open-parts.ts'
import type { ScheduledJob } from './job-catalogue.ts'

export type AskedReconciliation = {
  readonly environment: Environment
  readonly providerId?: string | undefined
  /** Undefined: as many days ago as is configured. */
  readonly since?: Date | undefined
  readonly stopping?: AbortSignal
}

const dayMs = 86_400_000

/** Compares everything once, keeps the reports, and says in the log what is wrong. */
export async function runReconciliation(
  config: BillingRunnerConfig,
  parts: Parts,
  { environment, providerId, since, stopping }: AskedReconciliation,
): Promise<Outcome> {
  const nowMs = parts.clock.now()
  const graceMs = config.reconcileGraceMinutes * 60_000
  const from = wholeSecond(since?.getTime() ?? nowMs - config.reconcileDays * dayMs)
  // Without grace what was made just now is compared as well.
  const to = wholeSecond(nowMs - graceMs + 1_000)
  const scope: Scope = { environment, providerId, from, to, graceMs, stopping }
  const limits = { findingsMax: config.reconcileFindingsMax }
  const outcome = await reconcile(partsOf(config, parts), scope, limits)
  tell(parts.logger, environment, outcome)
  return outcome
}

function partsOf(config: BillingRunnerConfig, parts: Parts): ReconcileParts {
  const { eventLog, hotState, usageStore } = parts
  const payments = paymentPartsOf(config, parts)
  const { usageStoredWaitMs: storedWaitMs, reconcileLookAgainMs: lookAgainMs } = config
  return {
    ...payments,
    counting: { eventLog, hotState, usageStore, storedWaitMs, lookAgainMs, now: payments.now },
  }
}

/** The nightly reconciliation, which also looks for money that nobody has moved for long. */
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
        const standing = await countStanding(pool)
        for (const kind of comparedKinds) {
          metrics.findings.set({ kind, space }, standing.get(kind) ?? 0)
        }
        metrics.heldInvoices.set({ space }, await countHeldInvoices(pool))
        metrics.openClearing.set({ space }, await countOpenClearing(config, parts, environment))
      },
    },
    schedule: config.reconciliation,
    spaces: environments,
  }
}

/** Where several providers share an account of the processor, payouts of it are none of theirs, and what is open is the operator's. */
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

function tell(logger: Parts['logger'], environment: Environment, outcome: Outcome): void {
  for (const { providerId, reference, found, repaired, gaps } of outcome.reports) {
    const report = { environment, providerId, reference, found, repaired, gaps }
    if (found > repaired) logger.error(report, 'a reconciliation found what is not the same')
    else if (found > 0 || gaps.length > 0)
      logger.warn(report, 'a reconciliation has something to tell')
  }
  for (const finding of outcome.strangers) {
    logger.error({ environment, finding }, 'the processor has something of a provider nobody knows')
  }
}

function wholeSecond(ms: number): Date {
  return new Date(Math.floor(ms / 1_000) * 1_000)
}
