import { textSetting, type SettingValues } from '../../config/settings.ts'

/** How whoever uses PostgreSQL is told where it is. One address is enough. */
export const databaseSettings = {
  databaseUrl: textSetting('TOLLGATE_DATABASE_URL', 'Address of PostgreSQL'),
  databaseRequestsUrl: textSetting(
    'TOLLGATE_DATABASE_REQUESTS_URL',
    'The same database under a login of its own for requests, which see one provider; empty takes TOLLGATE_DATABASE_URL',
    '',
  ),
}

/** For whoever brings the tables to this version. */
export const databaseOwnerSettings = {
  databaseOwnerUrl: textSetting(
    'TOLLGATE_DATABASE_OWNER_URL',
    'The same database under the login that owns the tables; empty takes TOLLGATE_DATABASE_URL',
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
