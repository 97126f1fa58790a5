import { PaymentProcessorUnavailableError } from '@tollgate/platform/payments/payment-processor'
import { UsageStoreUnavailableError } from '@tollgate/platform/usage-store/usage-store'
import { readWholeTables } from '../postgres/read-whole-tables.ts'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import type { PaymentJobParts } from '../settlement/work-off-inbox.ts'
import type { CountingParts } from './counting-parts.ts'
import { decideRepairs, type DecidedRepairs } from './decide-repairs.ts'
import type { ComparedKind, Finding } from './finding.ts'
import { reconcileBilledUsage } from './reconcile-billed-usage.ts'
import { reconcileCounters } from './reconcile-counters.ts'
import { reconcileDisputes } from './reconcile-disputes.ts'
import { reconcileHotWallets } from './reconcile-hot-wallets.ts'
import { reconcileInvoices } from './reconcile-invoices.ts'
import { reconcilePostings } from './reconcile-postings.ts'
import { reconcileProcessor } from './reconcile-processor.ts'
import { reconcileWallets } from './reconcile-wallets.ts'
import { keepReports, type Reconciliation } from './reports-repository.ts'
import type { Scope } from './scope.ts'
import { Tallies } from './tallies.ts'
import { drawReference } from '../unit-of-work/draw-reference.ts'

export type ReconcileParts = PaymentJobParts & { readonly counting: CountingParts }

export type ReconcileLimits = {
  /** What of a provider is kept; the rest is counted. */
  readonly findingsMax: number
}

/** Of what would set right some of it nothing is done that nobody asks for. */
export type Outcome = {
  readonly reports: readonly Reconciliation[]
  /** Of nobody that we know: for the operator alone. */
  readonly strangers: readonly Finding[]
} & DecidedRepairs

/** One thing that is compared, and what cannot be told of while it fails. */
type Check = { readonly kinds: readonly ComparedKind[]; readonly run: () => Promise<void> }

/**
 * Compares what we have with what others have of the same, and keeps a report for each provider that has any of it. It
 * changes nothing but what a look at the processor sets right. Where a part is away the report says so, and has the rest.
 */
export async function reconcile(
  parts: ReconcileParts,
  scope: Scope,
  { findingsMax }: ReconcileLimits,
): Promise<Outcome> {
  const { counting } = parts
  const startedAt = parts.now()
  const sql = parts.everyone.in(scope.environment)
  const tallies = new Tallies(findingsMax)
  const checks: readonly Check[] = [
    {
      kinds: ['payment', 'refund', 'dispute', 'payout'],
      run: () => reconcileProcessor(parts, scope, tallies),
    },
    // After it: what a look at the processor sets right is posted then.
    { kinds: ['posting'], run: () => reconcileDisputes(parts, scope, tallies) },
    {
      kinds: ['posting', 'top_up'],
      run: () =>
        readWholeTables(sql, (long) => reconcilePostings(long, scope, findingsMax, tallies)),
    },
    { kinds: ['invoice'], run: () => reconcileInvoices(sql, scope, tallies) },
    {
      kinds: ['wallet'],
      run: () =>
        readWholeTables(sql, (long) =>
          reconcileWallets(long, scope, findingsMax, startedAt, tallies),
        ),
    },
    {
      kinds: ['wallet'],
      run: () => reconcileHotWallets(sql, counting, scope, findingsMax, tallies),
    },
    {
      kinds: ['counter'],
      run: () => reconcileCounters(sql, counting, scope, findingsMax, tallies),
    },
    { kinds: ['billed_usage'], run: () => reconcileBilledUsage(sql, counting, scope, tallies) },
  ]
  for (const { kinds, run } of checks) {
    scope.stopping?.throwIfAborted()
    try {
      await run()
    } catch (error) {
      if (scope.stopping?.aborted === true) throw error
      parts.logger.error({ err: error, kinds }, 'could not be compared')
      for (const kind of kinds) tallies.gaveUp(kind, reasonOf(error))
    }
  }
  const reports = reportsOf(tallies, scope, startedAt, parts.now())
  await keepReports(sql, reports)
  const decided = decideRepairs(tallies.repairs, scope, tallies.gaps)
  return { reports, strangers: tallies.strangers, ...decided }
}

/** For providers, who are told nothing of our insides. */
function reasonOf(error: unknown): string {
  if (error instanceof PaymentProcessorUnavailableError) {
    return 'the payment processor did not answer'
  }
  return error instanceof UsageBehindError || error instanceof UsageStoreUnavailableError
    ? 'not all usage was counted and stored in time'
    : 'an error that the log tells of'
}

function reportsOf(
  tallies: Tallies,
  { from, to, providerId: asked }: Scope,
  startedAt: Date,
  finishedAt: Date,
): Reconciliation[] {
  // Who asked gets a report, also where there was nothing to compare.
  if (asked !== undefined) tallies.compared(asked, 'payment', 0)
  return [...tallies.byProvider].map(([providerId, { compared, findings, found, repaired }]) => ({
    providerId,
    reference: drawReference('reconciliation'),
    startedAt,
    finishedAt,
    comparedFrom: from,
    comparedTo: to,
    compared: Object.fromEntries(compared),
    gaps: tallies.gaps,
    found,
    repaired,
    findings,
  }))
}
