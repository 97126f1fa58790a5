import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '@tollgate/platform/clock/clock'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { prepareParts, type RedisVariable } from './engines/engine-parts.ts'
import { startStack, type Stack } from './stack.ts'

/** What a suite runs on that holds for both sets of parts. */
export type StackUnderTest = {
  readonly stack: Stack
  /** Stops the stack, and takes away what it was given. */
  remove(): Promise<void>
}

/** On Redis ingest writes to hot state, on the embedded one the control plane alone does. */
type HotStateWriter = 'ingest' | 'the control plane'

/** On embedded parts, written to by either. */
export async function createEmbeddedStack(
  by: HotStateWriter,
  options: {
    readonly clock?: Clock
    readonly settings?: Readonly<Record<string, string>>
  } = {},
): Promise<StackUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-stack-under-test-'))
  const hotState = await openLmdbHotState({ folder, role: 'projection' })
  const reader = await openLmdbHotState({ folder, role: 'reader' })
  const ingestHotState = by === 'ingest' ? hotState : reader
  const stack = await startStack({ ...options, hotState, ingestHotState })
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

/** On Kafka, and the Redis that the variable names. */
export async function createEngineStack(redis: RedisVariable): Promise<StackUnderTest> {
  const parts = prepareParts(redis)
  const stack = await startStack({ settings: parts.settings })
  return {
    stack,
    remove: async () => {
      await stack.stop()
      await parts.remove()
    },
  }
}
