import { dataDirSetting } from '@tollgate/platform/config/data-dir'
import { databaseSettings } from '@tollgate/platform/database/postgres/database-settings'
import { hotStateSettings } from '@tollgate/platform/hot-state/hot-state-settings'
import { secretSettings } from '@tollgate/platform/secrets/open-secrets'
import { consoleSettings } from '@tollgate/domain/console/console-settings'
import { hostedUrlSetting } from '@tollgate/domain/sessions/hosted-url'

/** Settings that tell commands where the stores are and how to log. */
export const cliSettings = {
  ...databaseSettings,
  dataDir: dataDirSetting,
  ...hotStateSettings,
  ...secretSettings,
  hostedUrl: hostedUrlSetting,
  passwordLinkHours: consoleSettings.passwordLinkHours,
}
