import { isAnswered, removeSocketFile, type Doorbell } from './doorbell.ts'
import { DataFolderError, type LmdbStore } from './environment.ts'

/** A process that is alive has claimed the environment. */
export class AnotherWriterError extends DataFolderError {}

/** Where the environment says whose bell rings. Key space 0 is the environment's own. */
const claimKey = Buffer.from('\0writer')

export function claimedPath(store: LmdbStore): string | undefined {
  store.resetReadTxn()
  const stored = store.getBinary(claimKey)
  return stored === undefined ? undefined : Buffer.from(stored).toString('utf8')
}

/**
 * Makes this process the only writer. The claim is the path of a bell that already listens, and it replaces only a
 * claim whose bell was found silent: of two that start together one sees the other's. A killed writer leaves a silent
 * claim, which the next one takes over.
 */
export async function claimWriter(store: LmdbStore, bell: Doorbell, folder: string): Promise<void> {
  for (;;) {
    const current = claimedPath(store)
    if (current !== undefined && (await isAnswered(current))) {
      throw new AnotherWriterError(`Another process writes to ${folder}. Stop it first.`)
    }
    if (!replaceClaim(store, current, bell.path)) continue
    if (current !== undefined) removeSocketFile(current)
    return
  }
}

/** Announces this bell whoever rang before: for a state that has its own guard against a second writer. */
export async function announceBell(store: LmdbStore, bell: Doorbell): Promise<void> {
  const current = claimedPath(store)
  store.transactionSync(() => store.putSync(claimKey, Buffer.from(bell.path)))
  if (current !== undefined && !(await isAnswered(current))) removeSocketFile(current)
}

export function releaseClaim(store: LmdbStore, bell: Doorbell): void {
  store.transactionSync(() => {
    const stored = store.getBinary(claimKey)
    if (stored !== undefined && Buffer.from(stored).equals(Buffer.from(bell.path))) {
      store.removeSync(claimKey)
    }
  })
}

function replaceClaim(store: LmdbStore, expected: string | undefined, path: string): boolean {
  return store.transactionSync(() => {
    const stored = store.getBinary(claimKey)
    if (
      stored === undefined ? expected !== undefined : Buffer.from(stored).toString() !== expected
    ) {
      return false
    }
    store.putSync(claimKey, Buffer.from(path))
    return true
  })
}
