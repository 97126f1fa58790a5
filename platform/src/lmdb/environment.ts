import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { open, type RootDatabase } from 'lmdb'

/** One database per environment: named ones cannot be opened by readers while a writer creates them. */
export type LmdbStore = RootDatabase<Buffer, Buffer>

export type EnvironmentOptions = {
  readonly folder: string
  /** What the folder holds, as it reads in an error message: 'event log'. */
  readonly content: string
  /** The format this program reads and writes. A folder with another one is refused. */
  readonly formatVersion: number
  readonly access: 'read' | 'write'
  /** Milliseconds a reader waits for the writer to create the environment. */
  readonly createdWithinMs: number
}

/** The folder cannot be used: made by another release, held by another writer, damaged, or not there. */
export class DataFolderError extends Error {
  override readonly name = 'DataFolderError'
}

/**
 * Address space, reserved once so that no process ever has to map again while another one makes the file grow; the
 * file takes the disk it needs and no more.
 */
const mapBytes = 2 ** 40

/** Key space 0 is the environment's own; every other first byte belongs to the adapter. */
const formatKey = Buffer.from('\0format')
const idKey = Buffer.from('\0id')

export async function openEnvironment(options: EnvironmentOptions): Promise<LmdbStore> {
  const deadline = Date.now() + options.createdWithinMs
  if (options.access === 'write') mkdirSync(options.folder, { recursive: true })
  for (;;) {
    const store = tryOpen(options)
    if (store !== undefined) return store
    if (Date.now() >= deadline) {
      throw new DataFolderError(`There is no ${options.content} in ${options.folder}.`)
    }
    await sleep(25)
  }
}

function tryOpen(options: EnvironmentOptions): LmdbStore | undefined {
  const isReader = options.access === 'read'
  if (isReader && !existsSync(join(options.folder, 'data.mdb'))) return undefined
  const store = open<Buffer, Buffer>({
    path: options.folder,
    // A data folder's name may contain a dot, which lmdb would take for a file name.
    noSubdir: false,
    encoding: 'binary',
    keyEncoding: 'binary',
    mapSize: mapBytes,
    // With it, a process that is killed during a sync can overwrite commits that others have seen (see
    // docs/decisions/hot-state.md, lmdb commits do not overlap their syncs).
    overlappingSync: false,
    // With it, a commit that fails also rejects a promise nobody can reach, which ends the process.
    eventTurnBatching: false,
    readOnly: isReader,
    maxReaders: 512,
  })
  const stored = isReader ? readFormat(store) : createFormat(store, options.formatVersion)
  if (stored === undefined) {
    void store.close()
    return undefined
  }
  if (stored !== options.formatVersion) {
    void store.close()
    const release = stored > options.formatVersion ? 'a newer' : 'an older'
    throw new DataFolderError(
      `The ${options.content} in ${options.folder} was written by ${release} release (format ${stored}, this release reads ${options.formatVersion}).`,
    )
  }
  endProcessWhenGivenUp(store)
  return store
}

const givenUpCheckMs = 500

/**
 * When the disk does not take the last page of a commit, lmdb gives this process's environment up for good (MDB_PANIC).
 * Only a new opening helps, and lmdb opens an environment once per process. So the error is thrown where nobody catches
 * it: the process ends with its reason, and whoever runs it starts it again.
 */
function endProcessWhenGivenUp(store: LmdbStore): void {
  const timer = setInterval(() => {
    try {
      readFormat(store)
    } catch (error) {
      if (String(error).includes('MDB_PANIC')) throw error
    }
  }, givenUpCheckMs)
  timer.unref()
  const close = store.close.bind(store)
  store.close = () => {
    clearInterval(timer)
    return close()
  }
}

function readFormat(store: LmdbStore): number | undefined {
  store.resetReadTxn()
  const stored = store.getBinary(formatKey)
  return stored === undefined ? undefined : Number(Buffer.from(stored).toString('latin1'))
}

function createFormat(store: LmdbStore, formatVersion: number): number {
  return store.transactionSync(() => {
    const stored = readFormat(store)
    if (stored !== undefined) return stored
    store.putSync(formatKey, Buffer.from(String(formatVersion), 'latin1'))
    store.putSync(idKey, Buffer.from(randomUUID(), 'latin1'))
    return formatVersion
  })
}

/** Random text that was given to the environment when it was made: another one in its place has another. */
export function readEnvironmentId(store: LmdbStore): string {
  return store.getBinary(idKey)!.toString('latin1')
}
