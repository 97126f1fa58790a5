import type { WithheldRepair } from '@tollgate/domain/reconciliation/decide-repairs'
import type { Finding, Repair } from '@tollgate/domain/reconciliation/finding'
import type { ReconciliationOutcome } from '@tollgate/domain/reconciliation/reconcile'
import type { LogPlace } from '@tollgate/domain/reconciliation/store-again'
import { CliError } from '@tollgate/platform/cli/cli-error'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { BillingRunnerConfig } from '../config.ts'
import { runReconciliation } from '../jobs/reconcile.ts'
import { repair } from '../jobs/repair.ts'
import { openParts } from '../open-parts.ts'
import type { ReconcileOptions } from './program.ts'
import { restoreFromLog } from './restore-command.ts'
import { parseTime, type RunContext } from './run-jobs.ts'

type Compared = { readonly environment: Environment; readonly outcome: ReconciliationOutcome }

/**
 * Runs the reconciliation once and prints the differences. Throws a CliError if a difference remains or something could not be
 * compared.
 */
export async function reconcileNow(
  config: BillingRunnerConfig,
  options: ReconcileOptions,
  { output, stopping, parts: overrides = {} }: RunContext,
): Promise<void> {
  const since = options.since === undefined ? undefined : parseTime('--since', options.since)
  const parts = await openParts({ ...config, logLevel: 'error' }, overrides)
  const compared: Compared[] = []
  try {
    for (const environment of environments) {
      if (options.environment !== undefined && options.environment !== environment) continue
      const scope = { environment, providerId: options.provider, since, stopping }
      const seen = await runReconciliation(config, parts, scope)
      const places = options.repair === true ? partitionsToRestore(environment, seen) : []
      // Counters are rebuilt from ClickHouse, so records that it lost and the log still has are restored first.
      const isRestored =
        places.length > 0 && (await restoreFromLog(parts, places, { output, stopping }))
      if (places.length > 0 && !isRestored)
        throw new CliError('Stopped. Nothing is repaired. Run the same command again.')
      const outcome = isRestored ? await runReconciliation(config, parts, scope) : seen
      compared.push({ environment, outcome })
      if (options.repair === true) await repair(parts, environment, outcome.repairs)
    }
  } finally {
    await parts.close()
  }
  output.show({
    json: compared.map(({ environment, outcome }) => ({ environment, ...outcome })),
    text: [
      ...compared.flatMap(linesOf),
      ...(options.repair === true ? compared.flatMap(repairsOf) : []),
    ],
  })
  const remaining = compared.flatMap(remainingFindings).length
  const gaps = compared.flatMap(({ outcome }) => outcome.reports.flatMap((each) => each.gaps))
  const problems = [
    remaining > 0 && `${remaining} ${remaining === 1 ? 'finding differs' : 'findings differ'}.`,
    gaps.length > 0 && 'Not everything could be compared: run the command again later.',
  ].filter((problem) => problem !== false)
  if (problems.length === 0) return
  throw new CliError(`${problems.join(' ')} See docs/operations.md, Reconciliation.`)
}

/** Returns the partitions whose counters differ from the records, including those whose repair is withheld. */
function partitionsToRestore(
  environment: Environment,
  { repairs, withheld }: ReconciliationOutcome,
): LogPlace[] {
  const possible = [...repairs, ...withheld.map((each) => each.repair)]
  const partitions = possible.flatMap((each) => (each.kind === 'counts' ? [each.partition] : []))
  return [...new Set(partitions)].map((partition) => ({ environment, partition }))
}

function remainingFindings({ outcome }: Compared): Finding[] {
  const findings = outcome.reports.flatMap((report) => report.findings)
  return [...findings, ...outcome.withoutProvider].filter(({ isRepaired }) => !isRepaired)
}

function linesOf({ environment, outcome }: Compared): string[] {
  if (outcome.reports.length === 0 && outcome.withoutProvider.length === 0) {
    return [`${environment}: nothing to compare`]
  }
  const reports = outcome.reports.flatMap((report) => {
    const { providerId, reference, compared, found, repaired, gaps, findings } = report
    const counts = Object.entries(compared).map(([kind, count]) => `${count} ${kind}`)
    return [
      `${environment} ${providerId} ${reference}: compared ${counts.join(', ')}; ${found} found, ${repaired} of them repaired`,
      ...findings.map((finding) => ` ${lineOf(finding)}`),
      ...gaps.map(({ kind, reason }) => ` ${kind} not compared: ${reason}`),
    ]
  })
  return [
    ...reports,
    ...outcome.withoutProvider.map((each) => `${environment} unknown provider: ${lineOf(each)}`),
  ]
}

function repairsOf({ environment, outcome: { repairs, withheld } }: Compared): string[] {
  return [
    ...repairs.map((each) =>
      each.kind === 'counts'
        ? `${environment}: ${nameOf(each)} are rebuilt. Run the command again to compare`
        : `${environment}: ${nameOf(each)} is published again. Run the command again to compare`,
    ),
    ...withheld.map(({ repair, reason }) => {
      return `${environment}: ${nameOf(repair)} not repaired: ${withheldReasons[reason]}`
    }),
  ]
}

function nameOf(each: Repair): string {
  return each.kind === 'counts'
    ? `counts of partition ${each.partition}`
    : `wallet of ${each.customerRef}`
}

const withheldReasons = {
  'records are gone': 'the ledger has debits for records that are missing; a person must decide',
  'one provider alone':
    'the partition also counts other providers; run the command without --provider',
  'wallets not compared':
    'not all wallets could be compared with the ledger; run the command again',
} as const satisfies Record<WithheldRepair['reason'], string>

function lineOf({ kind, difference, reference, ours, theirs, since, isRepaired }: Finding): string {
  const state = isRepaired ? 'repaired' : difference.replace('_', ' ')
  const sides = `here ${ours ?? 'nothing'}, there ${theirs ?? 'nothing'}`
  return `${kind} ${reference} ${state}: ${sides}, since ${since.toISOString()}`
}
