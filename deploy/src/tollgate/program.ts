import { billingActions } from '@tollgate/billing-runner/cli/actions'
import { addBillingCommands } from '@tollgate/billing-runner/cli/program'
import { addManagementCommands } from '@tollgate/control-plane/cli/program'
import {
  createCommandLine,
  finishCommandLine,
  type CommandLine,
} from '@tollgate/platform/cli/command-line'
import { readSettings } from '@tollgate/platform/config/settings'
import type { Command } from 'commander'
import { addLogCommands } from '../event-log/log-command.ts'
import { addMigrateCommand } from '../migrate/command.ts'
import { addRecountCommand } from '../recount/recount-command.ts'
import type { ClickHouseOptions } from './clickhouse/run-clickhouse.ts'
import { completionScript, shells } from './completion/completion-script.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns the command line for operators. The services' commands run in this process. The code of a command is loaded when it runs.
 */
export function createTollgateProgram(
  environment: Environment,
  print?: (line: string) => void,
): CommandLine {
  const commandLine = createCommandLine('tollgate', print)
  const { program, output } = commandLine
  program
    .description(
      'Operate the Tollgate installation that runs here or that TOLLGATE_… settings name.',
    )
    .addHelpText('after', '\nEvery command, its options and its output: docs/cli.md')
  const installation = (named: string) => async (): Promise<Environment> => {
    const { findEnvironment } = await import('./find-environment.ts')
    return await findEnvironment(environment, named)
  }
  const readEnvironment = installation('TOLLGATE_DATABASE_URL')
  addManagementCommands(program, async (run) => {
    const { withCliParts } = await import('@tollgate/control-plane/cli/open-cli-parts')
    const { cliSettings } = await import('@tollgate/control-plane/cli/settings')
    await withCliParts(readSettings(cliSettings, await readEnvironment()), output, run)
  })
  addBillingCommands(program, billingActions(output, readEnvironment))
  program.commandsGroup('Usage data:')
  addClickHouseCommand(program, async (options) => {
    const { runClickHouse } = await import('./clickhouse/run-clickhouse.ts')
    const named = 'TOLLGATE_CLICKHOUSE_URL'
    // If the environment names a server, that server is used even if an installation runs on the data folder.
    const isNamed = environment[named] !== undefined
    await runClickHouse(isNamed ? environment : await installation(named)(), options, output)
  })
  addRecountCommand(program, async (options) => {
    const { runRecount } = await import('../recount/run-recount.ts')
    await runRecount(await readEnvironment(), options, output)
  })
  addLogCommands(program, environment, output)
  program.commandsGroup('Installation:')
  addMigrateCommand(program, environment, output)
  addCompletionCommands(program, output.print)
  finishCommandLine(program)
  return commandLine
}

function addClickHouseCommand(
  program: Command,
  run: (options: ClickHouseOptions) => Promise<void>,
): void {
  program
    .command('clickhouse')
    .description('Print a read-only ClickHouse address and open a prompt, or run a query')
    .option('--query <sql>', 'Statements to run; without this option, those of standard input')
    .option('--format <name>', 'Output format, such as CSV or JSONEachRow')
    .action(run)
}

function addCompletionCommands(program: Command, print: (line: string) => void): void {
  const completion = program.command('completion').description('Shell completion')
  for (const shell of shells) {
    completion
      .command(shell)
      .description(`Print the completion script for ${shell}`)
      .action(() => print(completionScript(program, shell)))
  }
}
