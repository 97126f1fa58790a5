import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '@tollgate/platform/clock/clock'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { prepareParts, type RedisVariable } from './engines/engine-parts.ts'
import { startStack, type Stack } from './stack.ts'

/** A stack for suites that run on both sets of stores. */
export type StackUnderTest = {
  readonly stack: Stack
  /** Stops the stack and removes its data. */
  remove(): Promise<void>
}

/** The service that writes to hot state. With Redis it is ingest, with embedded hot state only the control plane. */
type HotStateWriter = 'ingest' | 'the control plane'

/** Creates a stack on embedded stores, written by either service. */
export async function createEmbeddedStack(
  by: HotStateWriter,
  options: {
    readonly clock?: Clock
    readonly settings?: Readonly<Record<string, string>>
    readonly hasBillingRunner?: boolean
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

/** Creates a stack on Kafka and on the Redis that the variable names. */
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
