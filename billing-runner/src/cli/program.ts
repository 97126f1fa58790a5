import { Command, InvalidArgumentError, Option } from 'commander'
import { environments, type Environment } from '@tollgate/schemas/environment'

/** What somebody asked for. */
export type AskedRun = {
  /** Undefined: all. */
  readonly job?: string
  readonly environment?: Environment
  /** ISO date-time. Undefined: now. */
  readonly at?: string
  readonly dryRun?: boolean
}

/** What somebody asked to be compared. */
export type AskedComparison = {
  readonly environment?: Environment
  readonly provider?: string
  /** ISO date or date-time. */
  readonly since?: string
  readonly json?: boolean
  readonly repair?: boolean
}

/** The options of `usage restore`. */
export type AskedRestore = {
  readonly environment?: Environment
}

export type Actions = {
  readonly run: (asked: AskedRun) => Promise<void>
  readonly reconcile: (asked: AskedComparison) => Promise<void>
  readonly restoreUsage: (asked: AskedRestore) => Promise<void>
}

export function createProgram({ run, reconcile, restoreUsage }: Actions): Command {
  const program = new Command('tollgate billing').description('Scheduled work, by hand')
  const environment = (): Option =>
    new Option('--environment <name>', 'there alone').choices(environments)
  program
    .command('run')
    .description('Do now what is due, beside the schedules; prints what comes of it')
    .option('--job <name>', 'that job alone')
    .addOption(environment())
    .option('--at <time>', 'as if it were that time (ISO 8601); in live not after now')
    .option('--dry-run', 'say what would be done, and do nothing')
    .action((asked: AskedRun) => run(asked))
  program
    .command('reconcile')
    .description(
      'Compare payments, invoices, wallets and usage with what others have of the same; fails where that differs',
    )
    .addOption(environment())
    .option('--provider <providerId>', 'of that provider alone')
    .option('--since <time>', 'what was made since then (ISO 8601); else as many days as by night')
    .option('--json', 'print it as JSON')
    .option(
      '--repair',
      'store again what ClickHouse lost and the log still has, then rebuild the counters that differ from the records and publish the wallets that differ; money is never changed',
    )
    .action((asked: AskedComparison) => reconcile(asked))
  program
    .command('usage')
    .description('Usage records')
    .command('restore')
    .description(
      'Store again in ClickHouse what it lacks of the event log; can be stopped and repeated at any time',
    )
    .requiredOption('--from <source>', 'where the records are; log is the only source', parseSource)
    .addOption(new Option('--environment <name>', 'that environment only').choices(environments))
    .action((asked: AskedRestore) => restoreUsage(asked))
  return program
}

function parseSource(text: string): string {
  if (text !== 'log') throw new InvalidArgumentError('It must be log.')
  return text
}
