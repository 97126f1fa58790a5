import { join } from 'node:path'
import { SettingsError, textSetting } from './settings.ts'

/** Where the embedded parts of a service are. Nothing else is kept there, so on the engines nobody has to name it. */
export const dataDirSetting = textSetting(
  'TOLLGATE_DATA_DIR',
  'Folder that holds the log and the hot state, as far as they are embedded; must be set then',
  '',
)

/** The folder of an embedded part. Throws a SettingsError when nobody has said where that is. */
export function embeddedFolder(dataDir: string, name: string): string {
  if (dataDir !== '') return join(dataDir, name)
  throw new SettingsError(`${dataDirSetting.variable} is not set: ${dataDirSetting.description}`)
}
