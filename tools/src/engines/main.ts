import { resolve } from 'node:path'
import { readSettings, SettingsError, type SettingValues } from '@tollgate/platform/config/settings'
import { Command, Option } from 'commander'
import { StartRefusedError } from '@tollgate/deploy/standalone/start-refused'
import { down, status, up, type CommandContext, type UpOptions } from './commands.ts'
import { brokersMax, planPorts } from './port-plan.ts'
import { engineSettings } from '@tollgate/deploy/settings/engine-settings'

const print = (line: string): void => console.log(line)

type UpFlags = { readonly brokers?: string; readonly redisCluster?: true }

function upOptions({ brokers, redisCluster }: UpFlags): UpOptions {
  return {
    ...(brokers === undefined ? {} : { brokers: Number(brokers) }),
    ...(redisCluster === undefined ? {} : { redisCluster }),
  }
}

type Settings = SettingValues<typeof engineSettings>

async function run(
  act: (place: CommandContext, settings: Settings) => Promise<boolean>,
): Promise<void> {
  const settings = readSettings(engineSettings, process.env)
  process.exit((await act({ root: resolve(settings.root), print }, settings)) ? 0 : 1)
}

const program = new Command('npm run engines').description(
  'Real engines on this machine: npm run engines:up, engines:status, engines:down',
)
program
  .command('up')
  .description('Start Kafka, a schema registry, Redis, PostgreSQL, ClickHouse and NATS on loopback')
  .addOption(
    new Option('--brokers <count>', 'Kafka brokers; fixed when the folder is created').choices([
      '1',
      String(brokersMax),
    ]),
  )
  .option('--redis-cluster', 'Three Redis masters as a cluster, instead of the single Redis')
  .action((flags: UpFlags) =>
    run((place, settings) => up(place, planPorts(settings), upOptions(flags))),
  )
program
  .command('status')
  .description('Show for each engine whether it runs, where, and whether it answers')
  .action(() => run(status))
program
  .command('down')
  .description('Stop the engines that up started; the data is kept')
  .action(() => run(async (place) => (await down(place), true)))

try {
  await program.parseAsync()
} catch (error) {
  const isPlain = error instanceof StartRefusedError || error instanceof SettingsError
  console.error(isPlain ? error.message : error)
  process.exit(1)
}
