import { migrateUsageTables } from '@tollgate/aggregator/clickhouse/migrate'
import { migrationsFolder } from '@tollgate/domain/postgres/migrations-folder'
import type { Database } from '@tollgate/platform/database/database'
import { migratePostgres } from '@tollgate/platform/database/postgres/migrations'
import { ownerAddress } from '@tollgate/platform/database/postgres/database-settings'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { openEventLogForWriting } from '@tollgate/platform/event-log/open-event-log'
import { openHotState } from '@tollgate/platform/hot-state/open-hot-state'
import type { Logger } from '@tollgate/platform/observability/logger'
import { openOwned } from '@tollgate/platform/service/open-owned'
import { clickHouseConnection } from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import { environments } from '@tollgate/schemas/environment'
import { meterEventValues } from '@tollgate/schemas/meter-event-values'
import { usageTopic } from '@tollgate/schemas/topics'
import { StartRefusedError } from '../../standalone/start-refused.ts'
import type { TargetConfig } from '../settings.ts'
import type { Source } from '../source/source.ts'
import { beginMove, findMove, type Journal } from './journal.ts'
import {
  requireEmptyDatabase,
  requireEmptyHotState,
  requireEmptyLog,
  requireEmptyUsageStore,
} from './require-empty.ts'
import type { Target } from './target.ts'

/** Key of the advisory lock, so that only 1 move runs into a database at a time. */
const advisoryLock = 7_065_551_002

/**
 * Opens the engines as the target of this source. They must either be empty, which begins a new move, or contain an interrupted
 * move of the same source. Before this is verified, only missing tables and topics are created.
 */
export function openTarget(
  config: TargetConfig,
  source: Pick<Source, 'id' | 'state'>,
  logger: Logger,
): Promise<Target & { readonly close: () => Promise<void> }> {
  return openOwned(async (own) => {
    const connection = clickHouseConnection(config, { requestTimeoutMs: 600_000 })
    const database = await own(
      createPostgresDatabase({
        url: ownerAddress(config),
        isOwner: true,
        poolMax: 3,
        statementTimeoutMs: 0,
        idleInTransactionTimeoutMs: 0,
      }),
    )
    await explainEngineErrors('PostgreSQL', 'TOLLGATE_DATABASE_URL', () => database.ping())
    await own({ close: await lockForMove(database) })
    const usageStore = await own(createClickHouseUsageStore(connection))
    await explainEngineErrors('ClickHouse', 'TOLLGATE_CLICKHOUSE_URL', () => usageStore.ping())

    const known = await findEarlierMove(database, source)
    if (known === undefined) {
      await requireEmptyDatabase(database)
      await requireEmptyUsageStore(usageStore)
    }
    await explainEngineErrors('PostgreSQL', 'TOLLGATE_DATABASE_URL', () =>
      migratePostgres({ url: ownerAddress(config), folder: migrationsFolder }),
    )
    await explainEngineErrors('ClickHouse', 'TOLLGATE_CLICKHOUSE_URL', () =>
      migrateUsageTables(connection),
    )

    const { log, schemaId } = await explainEngineErrors('Kafka', 'TOLLGATE_KAFKA_BROKERS', () =>
      own(
        openEventLogForWriting(config, {
          topics: environments.map(usageTopic),
          values: meterEventValues,
          logger,
        }),
      ),
    )
    const hotState = await explainEngineErrors('Redis', 'TOLLGATE_REDIS_URL', () =>
      own(openHotState(config, 'publisher', logger)),
    )
    if (known?.isFinished !== true) {
      await explainEngineErrors('Redis', 'TOLLGATE_REDIS_URL', () =>
        requireEmptyHotState(hotState, (topic) => log.partitionCount(topic)),
      )
    }
    if (known === undefined) await requireEmptyLog(log)
    return {
      database,
      usageStore,
      log,
      schemaId,
      partitionCount: (environment) => log.partitionCount(usageTopic(environment)),
      journal: known ?? (await beginMove(database.control, source)),
    }
  })
}

/** Returns the journal of an earlier move of this source, or undefined. */
async function findEarlierMove(
  database: Database,
  source: Pick<Source, 'id' | 'state'>,
): Promise<Journal | undefined> {
  const found = await findMove(database.control, source)
  switch (found.kind) {
    case 'none':
      return undefined
    case 'ours':
      return found.journal
    case 'another-source':
      throw new StartRefusedError(
        'Another installation was moved to these engines, or is being moved. Name empty engines.',
      )
    case 'source-changed':
      throw new StartRefusedError(
        found.isFinished
          ? 'This installation was moved to these engines and used afterwards: data that it accepted since is not there.'
          : 'A move of this installation to these engines has begun, and the installation was used afterwards: ' +
              'the moved data is out of date. Empty the engines, then migrate again.',
      )
  }
}

/** Takes an advisory lock. Its connection holds the lock, so the lock ends if the process is killed. */
async function lockForMove(database: Database): Promise<() => Promise<void>> {
  const connection = await database.control.reserve()
  const [lock] = await connection<{ taken: boolean }[]>`
    select pg_try_advisory_lock(${advisoryLock}) as taken`
  if (!lock!.taken) {
    connection.release()
    throw new StartRefusedError(
      'Another process is migrating to this database. Wait until it ends, or stop it.',
    )
  }
  return async () => {
    await connection`select pg_advisory_unlock(${advisoryLock})`
    connection.release()
  }
}

/** Adds the name of the failing engine and its setting to the error. */
async function explainEngineErrors<Result>(
  engine: string,
  variable: string,
  act: () => Promise<Result>,
): Promise<Result> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof StartRefusedError) throw error
    const reason = error instanceof Error ? error.message || error.name : String(error)
    throw new StartRefusedError(`${engine} (${variable}) cannot be used: ${reason}`)
  }
}
