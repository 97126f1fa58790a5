import { Command, Option } from 'commander'
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

export function createProgram(run: (asked: AskedRun) => Promise<void>): Command {
  const program = new Command('tollgate billing').description('Scheduled work, by hand')
  program
    .command('run')
    .description('Do now what is due, beside the schedules; prints what comes of it')
    .option('--job <name>', 'that job alone')
    .addOption(new Option('--environment <name>', 'there alone').choices(environments))
    .option('--at <time>', 'as if it were that time (ISO 8601); in live not after now')
    .option('--dry-run', 'say what would be done, and do nothing')
    .action((asked: AskedRun) => run(asked))
  return program
}
