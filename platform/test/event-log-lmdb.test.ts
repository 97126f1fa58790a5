import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLmdbEventLog, type LmdbEventLogOptions } from '../src/event-log/lmdb/lmdb-event-log.ts'
import { contractTopics, describeEventLog } from '../src/testing/event-log-contract.ts'

describeEventLog('lmdb', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'event-log-'))
  const options: LmdbEventLogOptions = {
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role: 'writer',
    topics: contractTopics,
  }
  const log = await openLmdbEventLog(options)
  let current = log
  return {
    log,
    openReader: () => openLmdbEventLog({ ...options, role: 'reader' }),
    reopen: async () => {
      await current.close()
      current = await openLmdbEventLog(options)
      return current
    },
    destroy: async () => {
      await current.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
})
