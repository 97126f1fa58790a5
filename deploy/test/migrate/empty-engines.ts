import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { spawnChdbGateway } from '@tollgate/platform/chdb-gateway/spawn-chdb-gateway'
import { createDatabase } from '@tollgate/platform/database/postgres/create-database'

const variables = [
  'TOLLGATE_TEST_KAFKA_BROKERS',
  'TOLLGATE_TEST_SCHEMA_REGISTRY_URL',
  'TOLLGATE_TEST_POSTGRES_URL',
] as const

export type EmptyEngines = {
  /** The settings of services that use them. */
  readonly environment: Record<string, string>
  stop(): Promise<void>
}

/** The variables that say where the engines are, as far as they are not set. */
export function missingEngines(redis: keyof typeof redisSettings): string[] {
  return [...variables, redis].filter((variable) => process.env[variable] === undefined)
}

const redisSettings = {
  TOLLGATE_TEST_REDIS_URL: 'TOLLGATE_REDIS_URL',
  TOLLGATE_TEST_REDIS_CLUSTER: 'TOLLGATE_REDIS_CLUSTER_NODES',
} as const

/** Topics, keys and databases of their own on the engines of this test run. */
export async function prepareEngines(
  folder: string,
  redis: keyof typeof redisSettings,
  dataDir: string,
): Promise<EmptyEngines> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const [brokers, registry, postgres] = variables.map((variable) => process.env[variable] ?? '')
  await createDatabase(postgres!, name)
  const database = new URL(postgres!)
  database.pathname = name
  const password = randomBytes(12).toString('hex')
  const clickhouse = await spawnChdbGateway({ folder: join(folder, 'engine-clickhouse'), password })
  return {
    environment: {
      TOLLGATE_EVENT_LOG: 'kafka',
      TOLLGATE_KAFKA_BROKERS: brokers!,
      TOLLGATE_KAFKA_NAME_PREFIX: `${name}.`,
      TOLLGATE_KAFKA_REPLICATION: '1',
      TOLLGATE_KAFKA_MIN_IN_SYNC: '1',
      TOLLGATE_LOG_PARTITIONS: '3',
      TOLLGATE_SCHEMA_REGISTRY_URL: registry!,
      TOLLGATE_HOT_STATE: 'redis',
      [redisSettings[redis]]: process.env[redis] ?? '',
      TOLLGATE_REDIS_KEY_PREFIX: name,
      TOLLGATE_DATABASE_URL: database.href,
      TOLLGATE_CLICKHOUSE_URL: clickhouse.url,
      TOLLGATE_CLICKHOUSE_USERNAME: 'default',
      TOLLGATE_CLICKHOUSE_PASSWORD: password,
      TOLLGATE_DATA_DIR: dataDir,
    },
    stop: () => clickhouse.stop(),
  }
}
