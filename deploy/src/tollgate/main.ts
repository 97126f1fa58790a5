import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { readSettings } from '@tollgate/platform/config/settings'
import { runLogCommand } from '../event-log/log-command.ts'
import { runMigrateCommand } from '../migrate/command.ts'
import { dataFolderAt } from '../standalone/data-folder.ts'
import { readRunFile } from '../standalone/run-file.ts'
import { standaloneSettings } from '../standalone/settings.ts'

const [command, ...parameters] = process.argv.slice(2)
if (command === 'migrate') process.exit(await runMigrateCommand(parameters, process.env))
if (command === 'log') process.exit(await runLogCommand(parameters, process.env))

/** The operator's commands, against what runs on the data folder, or against what the environment names. */
const isBilling = command === 'billing' || command === 'reconcile' || command === 'usage'
const program = createRequire(import.meta.url).resolve(
  isBilling ? '@tollgate/billing-runner/cli/main' : '@tollgate/control-plane/cli/main',
)
const isHelp = command === undefined || ['help', '--help', '-h'].includes(command)
const { dataDir } = readSettings(standaloneSettings, process.env)
const running = await readRunFile(dataFolderAt(resolve(dataDir)).runFile)
if (!isHelp && !running && process.env['TOLLGATE_DATABASE_URL'] === undefined) {
  console.error(
    `Nothing runs on ${dataDir}. Run npm start first, or name its folder with TOLLGATE_DATA_DIR.`,
  )
  process.exit(1)
}
const { status } = spawnSync(
  process.execPath,
  [program, ...(command === 'billing' ? parameters : process.argv.slice(2))],
  {
    stdio: 'inherit',
    env: { ...process.env, ...running?.environment },
  },
)
if (isHelp) {
  console.log('\nBilling:\n  billing run       Do now what is due')
  console.log('  reconcile         Compare what we have with what others have of the same')
  console.log(
    '\nStores:\n  usage restore     Store again in ClickHouse what it lacks of the event log',
  )
  console.log('  log verify        Check the segments of the embedded event log')
  console.log('  log repair        Drop damaged segments whose records are stored in ClickHouse')
  console.log('\nMoving:\n  migrate           Move an embedded installation to the engines')
}
process.exit(status ?? 1)
