import { textSetting, type SettingValues } from '../../config/settings.ts'

/** Addresses of PostgreSQL. One address is sufficient. */
export const databaseSettings = {
  databaseUrl: textSetting('TOLLGATE_DATABASE_URL', 'URL of the PostgreSQL database'),
  databaseRequestsUrl: textSetting(
    'TOLLGATE_DATABASE_REQUESTS_URL',
    'URL of the same database with a separate login for requests, which see one provider at a time; empty uses TOLLGATE_DATABASE_URL',
    '',
  ),
}

/** Address for processes that migrate the tables. */
export const databaseOwnerSettings = {
  databaseOwnerUrl: textSetting(
    'TOLLGATE_DATABASE_OWNER_URL',
    'URL of the same database with the login that owns the tables; empty uses TOLLGATE_DATABASE_URL',
    '',
  ),
}

type DatabaseConfig = SettingValues<typeof databaseSettings>
type OwnerConfig = Pick<DatabaseConfig, 'databaseUrl'> & SettingValues<typeof databaseOwnerSettings>

export function databaseAddresses({ databaseUrl, databaseRequestsUrl }: DatabaseConfig): {
  readonly url: string
  readonly requestsUrl: string
} {
  return { url: databaseUrl, requestsUrl: databaseRequestsUrl || databaseUrl }
}

export function ownerAddress({ databaseUrl, databaseOwnerUrl }: OwnerConfig): string {
  return databaseOwnerUrl || databaseUrl
}
