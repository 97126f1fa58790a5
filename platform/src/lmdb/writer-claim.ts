import { isListening, removeSocketFile, type CommitNotifier } from './commit-notifier.ts'
import { commit } from './commit.ts'
import { DataFolderError } from './environment.ts'
import type { LmdbStore } from './lmdb-store.ts'

/** Another live process is the writer of the environment. */
export class AnotherWriterError extends DataFolderError {}

/** Key of the writer's socket path. Keys with the first byte 0 belong to the environment. */
const claimKey = Buffer.from('\0writer')

export function claimedPath(store: LmdbStore): string | undefined {
  store.resetReadTxn()
  const stored = store.getBinary(claimKey)
  return stored === undefined ? undefined : Buffer.from(stored).toString('utf8')
}

/**
 * Makes this process the only writer, or throws an AnotherWriterError. A claim is the path of a socket on which the writer already
 * listens. It replaces only a claim whose socket does not answer. If two processes start together, one sees the other's claim. The
 * claim of a killed writer does not answer and is replaced.
 */
export async function claimWriter(
  store: LmdbStore,
  notifier: CommitNotifier,
  folder: string,
): Promise<void> {
  for (;;) {
    const current = claimedPath(store)
    if (current !== undefined && (await isListening(current))) {
      throw new AnotherWriterError(`Another process writes to ${folder}. Stop it first.`)
    }
    if (!(await replaceClaim(store, current, notifier.path))) continue
    if (current !== undefined) removeSocketFile(current)
    return
  }
}

/**
 * Stores the path of this socket without checking for another writer. For stores that have their own protection against a second
 * writer.
 */
export async function announceNotifier(store: LmdbStore, notifier: CommitNotifier): Promise<void> {
  const current = claimedPath(store)
  await commit(store, () => store.put(claimKey, Buffer.from(notifier.path)))
  if (current !== undefined && !(await isListening(current))) removeSocketFile(current)
}

export async function releaseClaim(store: LmdbStore, notifier: CommitNotifier): Promise<void> {
  const act = () => {
    const stored = store.getBinary(claimKey)
    if (stored !== undefined && Buffer.from(stored).equals(Buffer.from(notifier.path))) {
      store.removeSync(claimKey)
    }
  }
  await commit(store, () => store.childTransaction(act))
}

function replaceClaim(
  store: LmdbStore,
  expected: string | undefined,
  path: string,
): Promise<boolean> {
  const act = () => {
    const stored = store.getBinary(claimKey)
    if (
      stored === undefined ? expected !== undefined : Buffer.from(stored).toString() !== expected
    ) {
      return false
    }
    store.putSync(claimKey, Buffer.from(path))
    return true
  }
  return commit(store, () => store.childTransaction(act))
}
