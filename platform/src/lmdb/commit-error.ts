import type { LmdbStore } from './environment.ts'

/**
 * A commit that fails rejects with an error that carries the reason as a second promise, which ends the process when
 * nobody listens to it. So every write goes through here.
 */
export async function committed<Result>(write: Promise<Result>): Promise<Result> {
  try {
    return await write
  } catch (error) {
    const { commitError } = error as { commitError?: Promise<never> }
    if (commitError === undefined) throw error
    const reason: unknown = await commitError.catch((each: unknown) => each)
    const text = reason instanceof Error ? reason.message : String(reason)
    throw new Error(`The disk did not take a transaction: ${text}.`, { cause: error })
  }
}

/**
 * As `committed`, and on disk, for an environment that syncs later: neither a kill nor a power cut takes it back. Those
 * who write at the same time share a sync.
 */
export async function flushed<Result>(store: LmdbStore, write: Promise<Result>): Promise<Result> {
  // Asked for before anybody else can write: the answer is about the last write so far.
  const onDisk = new Promise((resolve) => void store.flushed.then(resolve))
  const result = await committed(write)
  await onDisk
  return result
}
