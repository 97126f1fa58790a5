import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLmdbHotState } from '../src/hot-state/lmdb/lmdb-hot-state.ts'
import { describeHotState } from '../src/testing/hot-state-contract.ts'

describeHotState('lmdb', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hot-state-'))
  const hot = await openLmdbHotState({ folder, role: 'projection' })
  return {
    hot,
    openReader: () => openLmdbHotState({ folder, role: 'reader' }),
    destroy: async () => {
      await hot.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
})
