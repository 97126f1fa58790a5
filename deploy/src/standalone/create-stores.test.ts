import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import { expect, test } from 'vitest'
import { createStores } from './create-stores.ts'
import { dataFolderAt } from './data-folder.ts'

test('waits for an orphan of a killed start that still writes to the log', async () => {
  const root = await mkdtemp(join(tmpdir(), 'tollgate-create-stores-'))
  const folder = dataFolderAt(root)
  await createStores(folder, {})
  const orphan = await openFileEventLog({
    logFolder: folder.log,
    groupsFolder: folder.groups,
    role: 'writer',
    topics: {},
  })
  let isGone = false
  const starting = createStores(folder, {}).then(() => expect(isGone).toBe(true))
  await sleep(500)
  isGone = true
  await orphan.close()
  await starting
  await rm(root, { recursive: true })
})
