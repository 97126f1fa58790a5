import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import {
  openFileEventLog,
  type FileEventLogOptions,
} from '@tollgate/platform/event-log/files/file-event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import {
  startTestUsageStore,
  type TestUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import { environments } from '@tollgate/schemas/environment'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { migrateUsageTables } from '../src/clickhouse/migrate.ts'
import { encoded } from './meter-event.ts'

export const partitionCount = 3
const topics = Object.fromEntries(
  environments.map((environment) => [usageTopic(environment), partitionCount]),
)

/** A data folder with a real log and hot state, opened here as ingest opens them, and real ClickHouse tables. */
export type Installation = {
  readonly dataDir: string
  /** The settings with which a process finds the installation, except for ClickHouse. */
  readonly environment: Readonly<Record<string, string>>
  readonly log: EventLog
  readonly hotState: HotState
  readonly clickhouse: TestUsageStore
  appendEvents(events: readonly MeterEvent[]): Promise<void>
  remove(): Promise<void>
}

export type EmbeddedInstallation = Installation & {
  /** Empties the hot state. */
  loseHotState(): Promise<void>
  /** Closes the log and reads it from the disk again. */
  reopenLog(): Promise<void>
}

export async function createInstallation(
  logOptions: Pick<FileEventLogOptions, 'segmentBytesMax'> = {},
  given?: TestUsageStore,
): Promise<EmbeddedInstallation> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-aggregator-'))
  const openLog = () =>
    openFileEventLog({
      logFolder: join(dataDir, 'log'),
      groupsFolder: join(dataDir, 'groups'),
      role: 'writer',
      topics,
      ...logOptions,
    })
  let log = await openLog()
  const hotFolder = join(dataDir, 'hot')
  const openHot = () => openLmdbHotState({ folder: hotFolder, role: 'projection' })
  let hotState = await openHot()
  const clickhouse = given ?? (await startTestUsageStore())
  if (given === undefined) await emptyUsageTables(clickhouse)
  return {
    dataDir,
    environment: { TOLLGATE_DATA_DIR: dataDir },
    get log() {
      return log
    },
    reopenLog: async () => {
      await log.close()
      log = await openLog()
    },
    get hotState() {
      return hotState
    },
    loseHotState: async () => {
      await hotState.close()
      await rm(hotFolder, { recursive: true })
      hotState = await openHot()
    },
    clickhouse,
    appendEvents: async (events) => {
      const records = events.map((event) => ({
        partition: partitionOfEvent(event),
        value: encoded(event),
      }))
      await log.appendAll(usageTopic('sandbox'), records, Date.now())
    },
    remove: async () => {
      await log.close()
      await hotState.close()
      await clickhouse.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Empties the tables. The tests of one file share the engine, and these databases have fixed names. */
export async function emptyUsageTables({ store, connection }: TestUsageStore): Promise<void> {
  for (const environment of environments) {
    await store.command(`DROP DATABASE IF EXISTS ${environment}`)
  }
  await migrateUsageTables(connection)
}

export function partitionOfEvent(event: MeterEvent): number {
  return partitionOf(subjectKey(event.providerId, event.customerRef), partitionCount)
}
