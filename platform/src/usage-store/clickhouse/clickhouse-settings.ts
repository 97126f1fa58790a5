import { readFileSync } from 'node:fs'
import { textSetting, type Setting, type SettingValues } from '../../config/settings.ts'
import type { ClickHouseConnection } from './clickhouse-usage-store.ts'

/** Settings for the connection to ClickHouse. */
export const clickHouseSettings = {
  clickhouseUrl: textSetting('TOLLGATE_CLICKHOUSE_URL', 'URL of ClickHouse (HTTP interface)'),
  clickhouseUsername: textSetting(
    'TOLLGATE_CLICKHOUSE_USERNAME',
    'User name at ClickHouse',
    'default',
  ),
  clickhousePassword: textSetting(
    'TOLLGATE_CLICKHOUSE_PASSWORD',
    'Password of the ClickHouse user',
    '',
  ),
  clickhouseCaFile: textSetting(
    'TOLLGATE_CLICKHOUSE_CA_FILE',
    'PEM file of the certificate authority of ClickHouse; if empty, the public authorities are trusted',
    '',
  ),
  clickhouseCertFile: textSetting(
    'TOLLGATE_CLICKHOUSE_CERT_FILE',
    'PEM file of the client certificate, if ClickHouse requires one',
    '',
  ),
  clickhouseKeyFile: textSetting(
    'TOLLGATE_CLICKHOUSE_KEY_FILE',
    'PEM file of the key of the client certificate',
    '',
  ),
  clickhouseCluster: matchingSetting(
    'TOLLGATE_CLICKHOUSE_CLUSTER',
    'Name of the ClickHouse cluster that the tables are distributed over; empty for a single server',
    '',
    // The name becomes part of SQL text, where a parameter is not possible.
    /^[\w.-]*$/,
    'may have letters, digits, _, . and - only',
  ),
  clickhouseInsertQuorum: matchingSetting(
    'TOLLGATE_CLICKHOUSE_INSERT_QUORUM',
    'In a cluster, the number of replicas of a shard that must have a batch before it counts as stored; auto means the majority',
    'auto',
    /^(auto|[1-9]\d?)$/,
    'must be auto or a number from 1 to 99',
  ),
}

/** Settings of the read-only ClickHouse user for people, in addition to the user of the services. */
export const clickHouseReaderSettings = {
  clickhouseReaderUsername: textSetting(
    'TOLLGATE_CLICKHOUSE_READER_USERNAME',
    'ClickHouse user that `tollgate clickhouse` reads with',
    'data_team',
  ),
  clickhouseReaderPassword: textSetting(
    'TOLLGATE_CLICKHOUSE_READER_PASSWORD',
    'Password of that user; `npm start` generates one for its embedded ClickHouse',
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
