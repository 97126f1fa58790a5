import type { CommitGate } from './commit-gate.ts'
import type { LmdbStore } from './lmdb-store.ts'

const gates = new WeakMap<LmdbStore, CommitGate>()

/** Makes `commit` use the gate for this store. */
export function commitThrough(store: LmdbStore, gate: CommitGate): void {
  gates.set(store, gate)
}

/**
 * Runs a write, and resolves when it is on disk. All writes must use this function: it waits while another process opens the
 * environment. When a commit fails, lmdb's error carries its reason as a second promise, whose rejection would end the process if it
 * is not handled.
 */
export async function commit<Result>(
  store: LmdbStore,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await gates.get(store)!.run(write)
  } catch (error) {
    const { commitError } = error as { commitError?: Promise<never> }
    if (commitError === undefined) throw error
    const reason: unknown = await commitError.catch((each: unknown) => each)
    const text = reason instanceof Error ? reason.message : String(reason)
    throw new Error(`The disk did not take a transaction: ${text}.`, { cause: error })
  }
}
