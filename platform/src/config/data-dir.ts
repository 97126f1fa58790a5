import { join } from 'node:path'
import { SettingsError, textSetting } from './settings.ts'

/** The folder of the embedded parts of a service. A service without embedded parts does not need it. */
export const dataDirSetting = textSetting(
  'TOLLGATE_DATA_DIR',
  'Folder of the embedded event log and hot state; required if either is embedded',
  '',
)

/** Returns the folder of an embedded part. Throws a SettingsError if the data folder is not set. */
export function embeddedFolder(dataDir: string, name: string): string {
  if (dataDir !== '') return join(dataDir, name)
  throw new SettingsError(`${dataDirSetting.variable} is not set: ${dataDirSetting.description}`)
}
