import { InvalidArgumentError, Option, type Command } from 'commander'
import { environments, type Environment } from '@tollgate/schemas/environment'

export type RecountOptions = {
  readonly provider: string
  readonly environment: Environment
  /** Name of the meter. */
  readonly meter: string
  readonly from: Date
  readonly to: Date
}

/** Adds `recount`, which only prints what would change: `--dry-run` is required, so that a later version can also apply changes. */
export function addRecountCommand(
  program: Command,
  run: (options: RecountOptions) => Promise<void>,
): void {
  program
    .command('recount')
    .description(
      'Read stored records by the current version of a meter, and print whose usage would change',
    )
    .requiredOption('--provider <providerId>', 'Provider of the meter')
    .addOption(
      new Option('--environment <environment>', 'Environment of the records')
        .choices(environments)
        .makeOptionMandatory(),
    )
    .requiredOption('--meter <name>', 'Name of a meter that reads events')
    .requiredOption('--from <time>', 'Start of the usage, inclusive (ISO 8601)', parseTime)
    .requiredOption('--to <time>', 'End of the usage, exclusive (ISO 8601)', parseTime)
    .requiredOption('--dry-run', 'Dry run: print the changes without applying them')
    .action((options: RecountOptions) => run(options))
}

function parseTime(text: string): Date {
  const time = new Date(text)
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(time.getTime())) {
    throw new InvalidArgumentError('It must be an ISO 8601 date, or date and time.')
  }
  return time
}
