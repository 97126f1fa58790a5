import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  openFileEventLog,
  type FileEventLogOptions,
} from '../src/event-log/files/file-event-log.ts'
import { contractTopics, describeEventLog } from '../src/testing/event-log-contract.ts'

// One commit per segment, and a few.
for (const segmentBytesMax of [1, 320]) {
  describeEventLog(`files, segments of ${segmentBytesMax} bytes`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'event-log-'))
    const options: FileEventLogOptions = {
      logFolder: join(folder, 'log'),
      groupsFolder: join(folder, 'groups'),
      role: 'writer',
      topics: contractTopics,
      segmentBytesMax,
    }
    const log = await openFileEventLog(options)
    let current = log
    return {
      log,
      openReader: () => openFileEventLog({ ...options, role: 'reader' }),
      reopen: async () => {
        await current.close()
        current = await openFileEventLog(options)
        return current
      },
      destroy: async () => {
        await current.close()
        await rm(folder, { recursive: true, force: true })
      },
    }
  })
}
