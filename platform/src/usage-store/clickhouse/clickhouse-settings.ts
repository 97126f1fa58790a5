import { readFileSync } from 'node:fs'
import { textSetting, type Setting, type SettingValues } from '../../config/settings.ts'
import type { ClickHouseConnection } from './clickhouse-usage-store.ts'

/** How every service that needs ClickHouse is told where it is. */
export const clickHouseSettings = {
  clickhouseUrl: textSetting('TOLLGATE_CLICKHOUSE_URL', 'Address of ClickHouse over HTTP'),
  clickhouseUsername: textSetting('TOLLGATE_CLICKHOUSE_USERNAME', 'ClickHouse user', 'default'),
  clickhousePassword: textSetting('TOLLGATE_CLICKHOUSE_PASSWORD', 'Its password', ''),
  clickhouseCaFile: textSetting(
    'TOLLGATE_CLICKHOUSE_CA_FILE',
    'PEM file of the authority that signed the certificate of ClickHouse; empty trusts the public ones',
    '',
  ),
  clickhouseCertFile: textSetting(
    'TOLLGATE_CLICKHOUSE_CERT_FILE',
    'PEM file of our own certificate, where ClickHouse asks for one',
    '',
  ),
  clickhouseKeyFile: textSetting('TOLLGATE_CLICKHOUSE_KEY_FILE', 'PEM file of its key', ''),
  clickhouseCluster: matchingSetting(
    'TOLLGATE_CLICKHOUSE_CLUSTER',
    'Name of the ClickHouse cluster the tables are spread over; empty is a single server',
    '',
    // It goes into SQL text, where it cannot be a parameter.
    /^[\w.-]*$/,
    'may have letters, digits, _, . and - only',
  ),
  clickhouseInsertQuorum: matchingSetting(
    'TOLLGATE_CLICKHOUSE_INSERT_QUORUM',
    'Replicas of a shard that must have a batch before it counts as stored, where there is a cluster: auto is the majority',
    'auto',
    /^(auto|[1-9]\d?)$/,
    'must be auto or a number from 1 to 99',
  ),
}

/** The read-only user of people, beside the user of the services. */
export const clickHouseReaderSettings = {
  clickhouseReaderUsername: textSetting(
    'TOLLGATE_CLICKHOUSE_READER_USERNAME',
    'ClickHouse user with which `tollgate clickhouse` reads',
    'data_team',
  ),
  clickhouseReaderPassword: textSetting(
    'TOLLGATE_CLICKHOUSE_READER_PASSWORD',
    'Its password; `npm start` generates one for its own ClickHouse',
    '',
  ),
}

function matchingSetting(
  variable: string,
  description: string,
  defaultText: string,
  pattern: RegExp,
  complaint: string,
): Setting<string> {
  return {
    variable,
    description,
    defaultText,
    parse: (text) => {
      if (!pattern.test(text)) throw new Error(complaint)
      return text
    },
  }
}

export function clickHouseConnection(
  config: SettingValues<typeof clickHouseSettings>,
  limits: Pick<ClickHouseConnection, 'requestTimeoutMs' | 'connectionsMax'>,
): ClickHouseConnection {
  const { clickhouseCluster: name, clickhouseInsertQuorum: insertQuorum } = config
  return {
    url: config.clickhouseUrl,
    username: config.clickhouseUsername,
    password: config.clickhousePassword,
    ...tlsOf(config),
    ...(name === '' ? {} : { cluster: { name, insertQuorum } }),
    ...limits,
  }
}

function tlsOf(
  config: SettingValues<typeof clickHouseSettings>,
): Pick<ClickHouseConnection, 'tls'> {
  const { clickhouseCaFile, clickhouseCertFile, clickhouseKeyFile } = config
  if (clickhouseCaFile === '') {
    if (clickhouseCertFile + clickhouseKeyFile === '') return {}
    throw new Error('TOLLGATE_CLICKHOUSE_CERT_FILE needs TOLLGATE_CLICKHOUSE_CA_FILE')
  }
  const authority = readFileSync(clickhouseCaFile)
  if (clickhouseCertFile + clickhouseKeyFile === '') return { tls: { authority } }
  const own = {
    certificate: readFileSync(clickhouseCertFile),
    key: readFileSync(clickhouseKeyFile),
  }
  return { tls: { authority, own } }
}
