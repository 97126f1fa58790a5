import type { RunFile } from '@tollgate/deploy/standalone/run-file'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { readSettings } from '@tollgate/platform/config/settings'
import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import {
  clickHouseConnection,
  clickHouseSettings,
} from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { generateUsage, type GeneratedUsage } from './generate-usage.ts'
import { measureRounds, measureViews, type MeasuredView } from './measure-views.ts'
import { seedBusiness } from './seed-business.ts'

export type ConsoleOptions = {
  readonly records: number
  readonly customers: number
  readonly repeats: number
}

type Console = {
  readonly baseUrl: string
  readonly sandboxKey: string
  readonly databaseUrl: string
  readonly store: UsageStore
}

const requestTimeoutMs = 600_000
const hourMs = 3_600_000

/** Measures a running instance. */
export async function reportConsole(
  { environment }: Pick<RunFile, 'environment'>,
  credentials: Pick<Console, 'baseUrl' | 'sandboxKey'>,
  options: ConsoleOptions,
  print: (line: string) => void,
): Promise<void> {
  const settings = readSettings(clickHouseSettings, environment)
  const connection = clickHouseConnection(settings, { requestTimeoutMs, connectionsMax: 2 })
  const store = createClickHouseUsageStore(connection)
  const databaseUrl =
    environment['TOLLGATE_DATABASE_OWNER_URL'] ?? environment['TOLLGATE_DATABASE_URL']
  if (databaseUrl === undefined) throw new Error('The instance names no database')
  try {
    const measured = await measureConsole({ ...credentials, databaseUrl, store }, options, print)
    print(`\n${consoleText(measured, options)}`)
  } finally {
    await store.close()
  }
}

/** Fills PostgreSQL and ClickHouse, and measures the views of the usage explorer and Home over HTTP. */
async function measureConsole(
  { baseUrl, sandboxKey, databaseUrl, store }: Console,
  { records, customers, repeats }: ConsoleOptions,
  print: (line: string) => void,
): Promise<MeasuredView[]> {
  const nowMs = Date.now()
  print(`inserting ${customers} customers ...`)
  const providerId = await seed(databaseUrl, customers, nowMs)
  const endMs = Math.ceil(nowMs / hourMs) * hourMs
  const usage: GeneratedUsage = { providerId, records, customers, endMs, days: 30 }
  await generateUsage(store, usage, print)
  print('measuring ...')
  const views = await measureViews(store, usage, repeats)
  const requestHome = async () => {
    const answer = await fetch(`${baseUrl}/v1/ui/overview?timeZone=Europe/Paris`, {
      headers: { authorization: `Bearer ${sandboxKey}` },
    })
    if (!answer.ok) throw new Error(`GET /v1/ui/overview answered ${answer.status}`)
    await answer.text()
  }
  const home = await measureRounds(requestHome, repeats)
  return [...views, { name: 'GET /v1/ui/overview', ...home }]
}

/** Returns the provider that has the customers. */
async function seed(url: string, customers: number, nowMs: number): Promise<string> {
  const database = createPostgresDatabase({
    ...{ url, isOwner: true, poolMax: 1, statementTimeoutMs: requestTimeoutMs },
  })
  try {
    const [provider] = await database.control<{ id: string }[]>`
      select provider_id as id from api_keys limit 1`
    if (provider === undefined) throw new Error('The instance has no provider')
    await seedBusiness(database, { providerId: provider.id, customers, nowMs })
    return provider.id
  } finally {
    await database.close()
  }
}

function consoleText(
  views: readonly MeasuredView[],
  { records, customers, repeats }: ConsoleOptions,
): string {
  return [
    `${formatCount(records)} records of ${formatCount(customers)} customers in 30 days, ${repeats} rounds`,
    formatTable(
      ['view', 'median, s', 'maximum, s'],
      views.map(({ name, seconds, secondsMax }) => [
        name,
        seconds.toFixed(3),
        secondsMax.toFixed(3),
      ]),
    ),
  ].join('\n\n')
}
