import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { readSettings } from '@tollgate/platform/config/settings'
import { dataFolderAt } from '../standalone/data-folder.ts'
import { readRunFile } from '../standalone/run-file.ts'
import { standaloneSettings } from '../standalone/settings.ts'

/** The operator's commands, against what runs on the data folder, or against what the environment names. */
const command = createRequire(import.meta.url).resolve('@tollgate/control-plane/cli/main')
const { dataDir } = readSettings(standaloneSettings, process.env)
const running = await readRunFile(dataFolderAt(resolve(dataDir)).runFile)
if (!running && process.env['TOLLGATE_DATABASE_URL'] === undefined) {
  console.error(
    `Nothing runs on ${dataDir}. Run npm start first, or name its folder with TOLLGATE_DATA_DIR.`,
  )
  process.exit(1)
}
const { status } = spawnSync(process.execPath, [command, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, ...running?.environment },
})
process.exit(status ?? 1)
