import type { Command } from 'commander'
import { CliError } from '@tollgate/platform/cli/cli-error'
import type { Output } from '@tollgate/platform/cli/output'

type Environment = Readonly<Record<string, string | undefined>>

/** Adds `log verify` and `log repair`, which work on the files of the embedded log. */
export function addLogCommands(program: Command, environment: Environment, output: Output): void {
  const log = program.command('log').description('Segments of the embedded event log')
  log
    .command('verify')
    .description('Check every segment of the event log; also while Tollgate runs')
    .action(async () => {
      const folder = await embeddedFolder(environment)
      const { verifyLog } = await import('./verify-log.ts')
      if (await explainErrors(folder.root, () => verifyLog(folder, output))) return
      throw new CliError('The log is damaged. See "A damaged log" in docs/operations.md.')
    })
  log
    .command('repair')
    .description(
      'Drop damaged segments if all of their records are counted and stored in ClickHouse; stop Tollgate first',
    )
    .action(async () => {
      const folder = await embeddedFolder(environment)
      const { repairLog } = await import('./repair-log.ts')
      if (await explainErrors(folder.root, () => repairLog(folder, environment, output))) return
      throw new CliError('The log is not repaired. See "A damaged log" in docs/operations.md.')
    })
}

async function embeddedFolder(environment: Environment) {
  if (environment['TOLLGATE_EVENT_LOG'] === 'kafka') {
    throw new CliError(
      'The event log is in Kafka, whose brokers check and replicate their segments. Check the brokers instead.',
    )
  }
  const { dataFolderAt } = await import('../standalone/data-folder.ts')
  return dataFolderAt(environment['TOLLGATE_DATA_DIR'] ?? '.tollgate')
}

async function explainErrors<Result>(root: string, act: () => Promise<Result>): Promise<Result> {
  const { explainFileError } = await import('../standalone/start-refused.ts')
  return await act().catch((error: unknown) => {
    throw explainFileError(error, root)
  })
}
