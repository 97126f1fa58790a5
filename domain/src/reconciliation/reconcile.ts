import { PaymentProcessorUnavailableError } from '@tollgate/platform/payments/payment-processor'
import { UsageStoreUnavailableError } from '@tollgate/platform/usage-store/usage-store'
import { readWholeTables } from '../postgres/read-whole-tables.ts'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import type { PaymentJobParts } from '../settlement/process-inbox.ts'
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
import { insertReports, type Reconciliation } from './reports-repository.ts'
import type { Scope } from './scope.ts'
import { Tallies } from './tallies.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'

export type ReconcileParts = PaymentJobParts & { readonly counting: CountingParts }

export type ReconcileLimits = {
  /** Maximum number of findings stored for each provider. Further findings are only counted. */
  readonly findingsMax: number
}

/** Result of a reconciliation. Its repairs are only proposed here. The caller decides whether to carry them out. */
export type ReconciliationOutcome = {
  readonly reports: readonly Reconciliation[]
  /** Findings without a known provider, for the operator only. */
  readonly withoutProvider: readonly Finding[]
} & DecidedRepairs

/** A comparison, and the kinds that are not reported if it fails. */
type Check = { readonly kinds: readonly ComparedKind[]; readonly run: () => Promise<void> }

/**
 * Compares our data with the processor, the ledger, hot state and the records, and stores a report for each provider with data. It
 * changes nothing except by applying the processor's state again. If a comparison fails, the report lists it as a gap and contains
 * the others.
 */
export async function reconcile(
  parts: ReconcileParts,
  scope: Scope,
  { findingsMax }: ReconcileLimits,
): Promise<ReconciliationOutcome> {
  const { counting } = parts
  const startedAt = parts.now()
  const sql = parts.everyone.in(scope.environment)
  const tallies = new Tallies(findingsMax)
  const checks: readonly Check[] = [
    {
      kinds: ['payment', 'refund', 'dispute', 'payout'],
      run: () => reconcileProcessor(parts, scope, tallies),
    },
    // This runs after the processor comparison, which posts what it repairs.
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
      parts.logger.error({ err: error, kinds }, 'could not compare')
      for (const kind of kinds) tallies.couldNotCompare(kind, reasonOf(error))
    }
  }
  const reports = reportsOf(tallies, scope, startedAt, parts.now())
  await insertReports(sql, reports)
  const decided = decideRepairs(tallies.repairs, scope, tallies.gaps)
  return { reports, withoutProvider: tallies.withoutProvider, ...decided }
}

/** Returns the reason of a gap as shown to providers, without internals. */
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
  { from, to, providerId: requested }: Scope,
  startedAt: Date,
  finishedAt: Date,
): Reconciliation[] {
  // The requested provider gets a report even if there was nothing to compare.
  if (requested !== undefined) tallies.compared(requested, 'payment', 0)
  return [...tallies.byProvider].map(([providerId, { compared, findings, found, repaired }]) => ({
    providerId,
    reference: generateReference('reconciliation'),
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
