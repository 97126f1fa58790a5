import type { Command } from 'commander'
import type { Output } from '@tollgate/platform/cli/output'
import { SettingsError } from '@tollgate/platform/config/settings'
import { StartRefusedError } from '../standalone/start-refused.ts'

const help = `
The engines are named by the settings that the services will have: TOLLGATE_EVENT_LOG=kafka, TOLLGATE_KAFKA_BROKERS,
TOLLGATE_SCHEMA_REGISTRY_URL, TOLLGATE_HOT_STATE=redis, TOLLGATE_REDIS_URL or TOLLGATE_REDIS_CLUSTER_NODES,
TOLLGATE_CLICKHOUSE_URL, TOLLGATE_DATABASE_URL, and the settings they need (docs/configuration.md). They must be empty.

Stop the installation first, and start the services on the engines when this is done. You can stop or kill the command
at any moment and run it again: it continues. The source folder does not change.
`

const continues = 'The source folder is unchanged. Run the same command again to continue.'

type Environment = Readonly<Record<string, string | undefined>>
type MigrateFlags = { readonly from: string; readonly engines?: boolean }

export function addMigrateCommand(
  program: Command,
  environment: Environment,
  output: Output,
): void {
  program
    .command('migrate')
    .description('Move an embedded installation to Kafka, Redis, ClickHouse and PostgreSQL')
    .option('--from <folder>', 'Data folder of the installation', '.tollgate')
    .option('--engines', 'Move to the engines of this machine; start those that are not running')
    .addHelpText('after', help)
    .action(async (flags: MigrateFlags) => {
      process.exit(await runMigrate(flags, environment, output))
    })
}

/** Runs the move with signal handling and messages. Returns the exit code of the process. */
async function runMigrate(
  { from, engines }: MigrateFlags,
  environment: Environment,
  output: Output,
): Promise<number> {
  const print = output.note
  const stopping = new AbortController()
  const stop = (): void => {
    // A second signal ends the process immediately. That is safe, because the command can be killed at any moment.
    if (stopping.signal.aborted) process.exit(130)
    print('\nStopping after the current step ...')
    stopping.abort()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
  try {
    const [{ migrate }, { engineEnvironment }] = await Promise.all([
      import('./migrate.ts'),
      import('../standalone/engine-environment.ts'),
    ])
    const target = engines === true ? await engineEnvironment(environment, print) : environment
    const { signal } = stopping
    const isMoved = await migrate({ from, environment: target, signal, print })
    output.show({ json: { isMoved }, text: [] })
    return isMoved ? 0 : 1
  } catch (error) {
    if (stopping.signal.aborted) {
      print(`Stopped. ${continues}`)
      return 130
    }
    if (error instanceof StartRefusedError || error instanceof SettingsError) {
      console.error(error.message)
      return 1
    }
    console.error(error)
    console.error(`Failed. ${continues}`)
    return 1
  }
}
