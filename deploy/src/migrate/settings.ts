import { textSetting } from '@tollgate/platform/config/settings'
import {
  databaseOwnerSettings,
  databaseSettings,
} from '@tollgate/platform/database/postgres/database-settings'
import {
  eventLogGroupSettings,
  eventLogSettings,
  eventLogWriterSettings,
} from '@tollgate/platform/event-log/event-log-settings'
import { hotStateSettings } from '@tollgate/platform/hot-state/hot-state-settings'
import { clickHouseSettings } from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'
import type { SettingValues } from '@tollgate/platform/config/settings'
import { StartRefusedError } from '../standalone/start-refused.ts'
import { ownStores, type OwnStores } from '../standalone/stores.ts'

/** Settings of the move's target. They are the same settings that the services there use. */
export const targetSettings = {
  ...eventLogSettings,
  ...eventLogWriterSettings,
  ...eventLogGroupSettings,
  ...hotStateSettings,
  ...clickHouseSettings,
  ...databaseSettings,
  ...databaseOwnerSettings,
  dataDir: textSetting('TOLLGATE_DATA_DIR', 'Data folder of an installation on the engines', ''),
}

export type TargetConfig = SettingValues<typeof targetSettings>

const requiredSettings: Readonly<Record<keyof OwnStores, string>> = {
  log: 'TOLLGATE_EVENT_LOG=kafka, with TOLLGATE_KAFKA_BROKERS and TOLLGATE_SCHEMA_REGISTRY_URL',
  hotState: 'TOLLGATE_HOT_STATE=redis, with TOLLGATE_REDIS_URL or TOLLGATE_REDIS_CLUSTER_NODES',
  postgres: 'TOLLGATE_DATABASE_URL',
  clickhouse: 'TOLLGATE_CLICKHOUSE_URL',
}

/** Throws an error that names every engine which the environment does not specify. */
export function requireEngines(environment: Readonly<Record<string, string | undefined>>): void {
  const own = ownStores(environment)
  const missing = (Object.keys(own) as (keyof OwnStores)[]).filter((name) => own[name])
  if (missing.length === 0) return
  throw new StartRefusedError(
    'Name the engines to move to, with the settings that the services will use there. Missing: ' +
      `${missing.map((name) => requiredSettings[name]).join('; ')}.`,
  )
}
