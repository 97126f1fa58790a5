import { dataDirSetting } from '@tollgate/platform/config/data-dir'
import { textSetting } from '@tollgate/platform/config/settings'
import { hotStateSettings } from '@tollgate/platform/hot-state/hot-state-settings'

/** Where the commands find the stores. */
export const cliSettings = {
  databaseUrl: textSetting('TOLLGATE_DATABASE_URL', 'Address of PostgreSQL'),
  dataDir: dataDirSetting,
  ...hotStateSettings,
}
