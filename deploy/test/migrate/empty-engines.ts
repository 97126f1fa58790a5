import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { spawnChdbGateway } from '@tollgate/platform/chdb-gateway/spawn-chdb-gateway'
import { createDatabase } from '@tollgate/platform/database/postgres/create-database'
import { missingParts, prepareParts, type RedisVariable } from '../engines/engine-parts.ts'

const postgresVariable = 'TOLLGATE_TEST_POSTGRES_URL'

export type EmptyEngines = {
  /** Settings with which services use the engines. */
  readonly environment: Record<string, string>
  stop(): Promise<void>
}

/** Returns the names of the unset variables with the addresses of the engines. */
export function missingEngines(redis: RedisVariable): string[] {
  const missing = missingParts(redis)
  return process.env[postgresVariable] === undefined ? [...missing, postgresVariable] : missing
}

/** Prepares separate topics, keys and databases on the engines of this test run. */
export async function prepareEngines(
  folder: string,
  redis: RedisVariable,
  dataDir: string,
): Promise<EmptyEngines> {
  const parts = prepareParts(redis)
  const name = `test_${randomBytes(6).toString('hex')}`
  const postgres = process.env[postgresVariable] ?? ''
  await createDatabase(postgres, name)
  const database = new URL(postgres)
  database.pathname = name
  const password = randomBytes(12).toString('hex')
  const clickhouse = await spawnChdbGateway({ folder: join(folder, 'engine-clickhouse'), password })
  return {
    environment: {
      ...parts.settings,
      TOLLGATE_LOG_PARTITIONS: '3',
      TOLLGATE_DATABASE_URL: database.href,
      TOLLGATE_CLICKHOUSE_URL: clickhouse.url,
      TOLLGATE_CLICKHOUSE_USERNAME: 'default',
      TOLLGATE_CLICKHOUSE_PASSWORD: password,
      TOLLGATE_DATA_DIR: dataDir,
    },
    stop: async () => {
      await clickhouse.stop()
      await parts.remove()
    },
  }
}
