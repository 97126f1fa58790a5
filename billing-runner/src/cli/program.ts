import { InvalidArgumentError, Option, type Command } from 'commander'
import { environments, type Environment } from '@tollgate/schemas/environment'

/** The options of `billing run`. */
export type RunOptions = {
  /** Name of the job to run. Undefined means all jobs. */
  readonly job?: string
  readonly environment?: Environment
  /** ISO 8601 date and time of the run. Undefined means now. */
  readonly at?: string
  readonly dryRun?: boolean
}

/** The options of `reconcile`. */
export type ReconcileOptions = {
  readonly environment?: Environment
  readonly provider?: string
  /** ISO 8601 date, or date and time. */
  readonly since?: string
  readonly repair?: boolean
}

/** The options of `usage restore`. */
export type RestoreOptions = {
  readonly environment?: Environment
}

export type BillingActions = {
  readonly run: (options: RunOptions) => Promise<void>
  readonly reconcile: (options: ReconcileOptions) => Promise<void>
  readonly restoreUsage: (options: RestoreOptions) => Promise<void>
}

/** Adds `billing run` and `reconcile` to a command line, in its group for money, and `usage restore`. */
export function addBillingCommands(
  program: Command,
  { run, reconcile, restoreUsage }: BillingActions,
): void {
  program.commandsGroup('Money:')
  program
    .command('billing')
    .description('Scheduled billing jobs')
    .command('run')
    .description('Run the billing jobs that are due now, in addition to their schedules')
    .option('--job <name>', 'Only this job')
    .addOption(environmentOption())
    .option('--at <time>', 'Run as if it were this time (ISO 8601). Not in the future for live')
    .option('--dry-run', 'Dry run: print the changes without applying them')
    .action((options: RunOptions) => run(options))
  program
    .command('reconcile')
    .description(
      'Compare payments, invoices, wallets and usage with the processor, the ledger and the records; fails if any differs',
    )
    .addOption(environmentOption())
    .option('--provider <providerId>', 'Only this provider')
    .option('--since <time>', 'Compare from this time on (ISO 8601). Default: as the nightly run')
    .option(
      '--repair',
      'Store records that ClickHouse lost again from the log, then rebuild counters and publish wallets that differ. Money is never changed',
    )
    .action((options: ReconcileOptions) => reconcile(options))
  program.commandsGroup('Usage data:')
  program
    .command('usage')
    .description('Usage records')
    .command('restore')
    .description(
      'Store records again in ClickHouse that it lacks and the event log has; can be stopped and repeated',
    )
    .requiredOption('--from <source>', 'Source of the records; only log', parseSource)
    .addOption(environmentOption())
    .action((options: RestoreOptions) => restoreUsage(options))
}

function environmentOption(): Option {
  return new Option('--environment <name>', 'Only this environment').choices(environments)
}

function parseSource(text: string): string {
  if (text !== 'log') throw new InvalidArgumentError('It must be log.')
  return text
}
