import { CliError } from '@tollgate/platform/cli/cli-error'
import type { CliResult } from '@tollgate/platform/cli/output'
import { readSettings } from '@tollgate/platform/config/settings'
import {
  clickHouseConnection,
  clickHouseReaderSettings,
  clickHouseSettings,
} from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'
import type { ClickHouseConnection } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'

/** Slightly above the user's own limit of 300 seconds per statement. */
const requestTimeoutMs = 310_000

/** Returns the connection of the read-only user to ClickHouse. Throws CliError if no password of that user is configured. */
export function readerLogin(
  environment: Readonly<Record<string, string | undefined>>,
): ClickHouseConnection {
  const config = readSettings({ ...clickHouseSettings, ...clickHouseReaderSettings }, environment)
  if (config.clickhouseReaderPassword === '') {
    throw new CliError(
      `TOLLGATE_CLICKHOUSE_READER_PASSWORD is not set. Create the user with deploy/clickhouse/data-team.sql (docs/data-team.md) and set its password.`,
    )
  }
  const login = {
    ...config,
    clickhouseUsername: config.clickhouseReaderUsername,
    clickhousePassword: config.clickhouseReaderPassword,
    // A cluster adds settings for inserts, which this user may not change.
    clickhouseCluster: '',
  }
  return clickHouseConnection(login, { requestTimeoutMs, connectionsMax: 1 })
}

/** Returns the address and credentials with which people and tools can connect. */
export function describeLogin({ url, username, password }: ClickHouseConnection): CliResult {
  const address = new URL(url)
  address.username = username
  address.password = password
  const query = 'SELECT meter_name, count() FROM sandbox.usage_records GROUP BY meter_name'
  const curl = `curl -s '${url}' -u '${username}:${password}' --data-binary '${query}'`
  return {
    json: { url, username, password, address: address.href, databases: ['live', 'sandbox'], curl },
    text: [
      `ClickHouse at ${url}, read-only: databases live and sandbox (docs/data-team.md)`,
      '',
      `  user      ${username}`,
      `  password  ${password}`,
      `  address   ${address.href}`,
      '',
      'Run a first query:',
      `  ${curl}`,
      '',
    ],
    quiet: [address.href],
  }
}
