import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { usageTopic } from '@tollgate/schemas/topics'

export type UsageLogOptions = {
  readonly partitions?: number
  /** Bytes after which a segment of the log is full. */
  readonly segmentBytesMax?: number
}

/** The usage log of the sandbox and its hot state, in a temporary folder. */
export class UsageStores {
  readonly log: EventLog
  hotState: HotState
  readonly #folder: string

  private constructor(log: EventLog, hotState: HotState, folder: string) {
    this.log = log
    this.hotState = hotState
    this.#folder = folder
  }

  static async open({ partitions = 1, ...segments }: UsageLogOptions = {}): Promise<UsageStores> {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-usage-stores-'))
    const log = await openFileEventLog({
      logFolder: join(folder, 'log'),
      groupsFolder: join(folder, 'groups'),
      role: 'writer',
      topics: { [usageTopic('sandbox')]: partitions },
      ...segments,
    })
    return new UsageStores(log, await openHotState(folder, 'hot'), folder)
  }

  /** Replaces the hot state with an empty one. */
  async loseHotState(): Promise<void> {
    await this.hotState.close()
    this.hotState = await openHotState(this.#folder, 'lost')
  }

  /** Closes both and deletes their folder. */
  async close(): Promise<void> {
    await this.log.close()
    await this.hotState.close()
    await rm(this.#folder, { recursive: true })
  }
}

function openHotState(folder: string, name: string): Promise<HotState> {
  return openLmdbHotState({ folder: join(folder, name), role: 'projection' })
}
