import { resolve } from 'node:path'
import { CliError } from '@tollgate/platform/cli/cli-error'
import { readSettings } from '@tollgate/platform/config/settings'
import { dataFolderAt } from '../standalone/data-folder.ts'
import { readRunFile } from '../standalone/run-file.ts'
import { standaloneSettings } from '../settings/standalone-settings.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns the settings with which a command reaches the stores: those of the installation that runs on the data folder, or the
 * environment if it contains the variable `named`. Throws CliError if there is neither.
 */
export async function findEnvironment(
  environment: Environment,
  named: string,
): Promise<Environment> {
  const { dataDir } = readSettings({ dataDir: standaloneSettings.dataDir }, environment)
  const running = await readRunFile(dataFolderAt(resolve(dataDir)).runFile)
  if (running === undefined && environment[named] === undefined) {
    throw new CliError(
      `No installation runs on ${dataDir}. Run npm start first, name its folder with TOLLGATE_DATA_DIR, or set ${named}.`,
    )
  }
  return { ...environment, ...running?.environment }
}
