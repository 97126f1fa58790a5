import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { describeReservations, type StackUnderTest } from './reservations-contract.ts'
import { startStack } from './stack.ts'

/** On Redis ingest writes to hot state, on the embedded one the control plane alone does. */
for (const by of ['ingest', 'the control plane'] as const) {
  describeReservations(`reserved by ${by}`, () => createStack(by))
}

async function createStack(by: 'ingest' | 'the control plane'): Promise<StackUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-reservations-'))
  const hotState = await openLmdbHotState({ folder, role: 'projection' })
  const reader = await openLmdbHotState({ folder, role: 'reader' })
  const ingestHotState = by === 'ingest' ? hotState : reader
  const stack = await startStack({ hotState, ingestHotState })
  return {
    stack,
    remove: async () => {
      await stack.stop()
      await reader.close()
      await hotState.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
