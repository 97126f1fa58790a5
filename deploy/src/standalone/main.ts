import { relative, resolve } from 'node:path'
import { Command } from 'commander'
import { ingestSettings } from '@tollgate/ingest/config'
import { requireShareable } from '@tollgate/ingest/workers/require-shareable'
import { readSettings, SettingsError } from '@tollgate/platform/config/settings'
import { dataFolderAt, type DataFolder } from './data-folder.ts'
import { killServices } from './kill-services.ts'
import { engineEnvironment } from './engine-environment.ts'
import { openInstallation, type Installation } from './open-installation.ts'
import { requireKnownSettings } from './require-known-settings.ts'
import { standaloneSettings } from '../settings/standalone-settings.ts'
import { StartRefusedError } from './start-refused.ts'
import { welcomeText } from './welcome.ts'

const program = new Command('npm start --')
  .description('Run all of Tollgate on this machine.')
  .option(
    '--engines',
    'Run on Kafka, Redis, PostgreSQL and ClickHouse; start those that are not running',
  )
program.parse()

const startedAtMs = Date.now()
const print = (line: string): void => console.log(line)
const report = (line: string): void => console.error(`[${new Date().toISOString()}] ${line}`)

/** If a stop is requested during the start, the start is completed first, so that no half-started installation is left behind. */
let opening: Promise<Installation> | undefined
let openedFolder: DataFolder | undefined
let stoppingSinceMs: number | undefined
async function stop(): Promise<void> {
  if (stoppingSinceMs !== undefined) return
  stoppingSinceMs = performance.now()
  print('\nStopping ... (Ctrl-C again ends it at once)')
  const installation = await opening?.catch(() => undefined)
  await installation?.close()
  print('Stopped. All data is kept.')
  process.exit(0)
}

/** Exit codes of a process that was ended by the signal. */
const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const
async function killAndExit(signal: keyof typeof exitCodes): Promise<void> {
  if (openedFolder !== undefined) await killServices(openedFolder.runFile)
  print('Ended at once. Acknowledged usage is kept; the next start recovers the rest.')
  process.exit(exitCodes[signal])
}

/** One Ctrl-C may arrive twice, because the terminal sends it to every process and npm forwards it. */
const sameSignalMs = 500
function onSignal(signal: keyof typeof exitCodes): Promise<void> | undefined {
  if (stoppingSinceMs === undefined) return stop()
  const isSame = performance.now() - stoppingSinceMs < sameSignalMs
  return isSame ? undefined : killAndExit(signal)
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void onSignal(signal))
process.on('disconnect', () => void stop())

try {
  const { engines = false } = program.opts<{ engines?: boolean }>()
  const environment = engines ? await engineEnvironment(process.env, print) : process.env
  requireKnownSettings(environment)
  const { workers, eventLog, hotState } = ingestSettings
  requireShareable(readSettings({ workers, eventLog, hotState }, environment))
  const { dataDir, port, hungAfterSeconds, demoPage } = readSettings(
    standaloneSettings,
    environment,
  )
  const folder = dataFolderAt(resolve(dataDir))
  openedFolder = folder
  print(`Starting Tollgate on ${folder.root} ...`)
  const hasDemoPage = demoPage === 'yes'
  opening = openInstallation({ folder, port, hungAfterSeconds, hasDemoPage, environment, report })
  const { credentials, mcpUrl, steps } = await opening
  if (stoppingSinceMs === undefined) {
    const inside = relative(process.cwd(), folder.root)
    const dataDirShown = inside === '' || inside.startsWith('..') ? folder.root : inside
    const startedInMs = Date.now() - startedAtMs
    print(welcomeText({ credentials, mcpUrl, steps, dataDir: dataDirShown, startedInMs }))
    process.send?.({ ready: true })
  }
} catch (error) {
  const isPlain = error instanceof StartRefusedError || error instanceof SettingsError
  console.error(isPlain ? error.message : error)
  process.exit(1)
}
