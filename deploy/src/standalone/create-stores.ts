import { setTimeout as sleep } from 'node:timers/promises'
import { ingestSettings } from '@tollgate/ingest/config'
import { readSettings } from '@tollgate/platform/config/settings'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { AnotherWriterError } from '@tollgate/platform/lmdb/writer-claim'
import { environments } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'
import type { DataFolder } from './data-folder.ts'
import { ownStores } from './stores.ts'

const { logPartitions } = ingestSettings

/**
 * How long a start waits for services of a killed supervisor to end. A service that was still starting when the supervisor was
 * killed is not in the run file, so its lock on the log is the only sign of it.
 */
const orphanWaitMs = 60_000
const pollMs = 100

/**
 * Creates the embedded log and hot state before any service opens them, because LMDB cannot handle one process opening a file that
 * another one is creating. Runs at every start, so that an interrupted creation is completed. Call it while the folder's lock is
 * held: a process that writes to the log must then be an orphan, and the start waits for its end.
 */
export async function createStores(
  folder: DataFolder,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const own = ownStores(environment)
  if (own.log) await retryWhileLocked(() => createLog(folder, environment))
  if (own.hotState) {
    const hotState = await openLmdbHotState({ folder: folder.hot, role: 'publisher' })
    await hotState.close()
  }
}

async function retryWhileLocked(step: () => Promise<void>): Promise<void> {
  for (const deadline = Date.now() + orphanWaitMs; ;) {
    try {
      return await step()
    } catch (error) {
      if (!(error instanceof AnotherWriterError) || Date.now() > deadline) throw error
      await sleep(pollMs)
    }
  }
}

async function createLog(
  folder: DataFolder,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const partitions = readSettings({ logPartitions }, environment).logPartitions
  const topics = environments.map((name) => [usageTopic(name), partitions] as const)
  const log = await openFileEventLog({
    logFolder: folder.log,
    groupsFolder: folder.groups,
    role: 'writer',
    topics: Object.fromEntries(topics),
  })
  await log.close()
}
