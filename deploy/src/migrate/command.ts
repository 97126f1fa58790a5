import { SettingsError } from '@tollgate/platform/config/settings'
import { Command } from 'commander'
import { StartRefusedError } from '../standalone/start-refused.ts'
import { withEngines } from '../standalone/with-engines.ts'
import { migrate } from './migrate.ts'

const help = `
The engines are named by the settings that the services will have: TOLLGATE_EVENT_LOG=kafka, TOLLGATE_KAFKA_BROKERS,
TOLLGATE_SCHEMA_REGISTRY_URL, TOLLGATE_HOT_STATE=redis, TOLLGATE_REDIS_URL or TOLLGATE_REDIS_CLUSTER_NODES,
TOLLGATE_CLICKHOUSE_URL, TOLLGATE_DATABASE_URL, and what else they need (docs/configuration.md). They must be empty.

Stop the installation first, and start the services on the engines when this is done. It can be stopped at any moment
and killed: the same command goes on. The folder that is moved does not change.
`

const goesOn = 'The folder is as it was; the same command goes on from here.'

/** The process's part of the command: signals, words, exit code. */
export async function runMigrateCommand(
  parameters: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const program = new Command('npm run tollgate -- migrate')
    .description('Moves an embedded installation to Kafka, Redis, ClickHouse and PostgreSQL.')
    .option('--from <folder>', 'data folder of the installation', '.tollgate')
    .option('--engines', 'to the engines of this machine, which are started when they do not run')
    .addHelpText('after', help)
    .parse([...parameters], { from: 'user' })
  const { from, engines } = program.opts<{ from: string; engines?: boolean }>()
  const say = (line: string): void => console.log(line)
  const stopping = new AbortController()
  const stop = (): void => {
    // The second time it is meant at once, which a kill is as good for.
    if (stopping.signal.aborted) process.exit(130)
    say('\nStopping after what is under way ...')
    stopping.abort()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
  try {
    const target = engines === true ? await withEngines(environment, say) : environment
    const { signal } = stopping
    return (await migrate({ from, environment: target, signal, say })) ? 0 : 1
  } catch (error) {
    if (stopping.signal.aborted) {
      say(`Stopped. ${goesOn}`)
      return 130
    }
    if (error instanceof StartRefusedError || error instanceof SettingsError) {
      console.error(error.message)
      return 1
    }
    console.error(error)
    console.error(`Failed. ${goesOn}`)
    return 1
  }
}
