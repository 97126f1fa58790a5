import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import {
  startTestUsageStore,
  type TestUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import { usageTopic } from '@tollgate/schemas/topics'
import { emptyUsageTables } from './installation.ts'

/** A real log and real ClickHouse tables for many runs, each on its own partition. */
export type LogAndStore = {
  /** A folder for other data of a run. */
  readonly folder: string
  readonly log: EventLog
  readonly clickhouse: TestUsageStore
  newPartition(): number
  remove(): Promise<void>
}

export async function createLogAndStore(partitionsMax: number): Promise<LogAndStore> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-log-and-store-'))
  const log = await openFileEventLog({
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role: 'writer',
    topics: { [usageTopic('sandbox')]: partitionsMax },
  })
  const clickhouse = await startTestUsageStore()
  await emptyUsageTables(clickhouse)
  let partitions = 0
  return {
    folder,
    log,
    clickhouse,
    newPartition: () => partitions++,
    async remove() {
      await log.close()
      await clickhouse.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
