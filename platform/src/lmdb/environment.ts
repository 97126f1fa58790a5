import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { open } from 'lmdb'
import { commitThrough } from './commit.ts'
import type { LmdbStore } from './lmdb-store.ts'
import { closeInTurn, openInTurn } from './open-in-turn.ts'
import { NoAnswerError } from './opening-turn.ts'

export type EnvironmentOptions = {
  readonly folder: string
  /** What the folder contains, as error messages name it: 'event log'. */
  readonly content: string
  /** Format version that this release reads and writes. A folder with another version is refused. */
  readonly formatVersion: number
  readonly access: 'read' | 'write'
  /** Milliseconds a reader waits for the writer to create the environment. */
  readonly createdWithinMs: number
}

/** The folder cannot be used: it was written by another release, has another writer, is damaged, or does not exist. */
export class DataFolderError extends Error {
  override readonly name = 'DataFolderError'
}

/**
 * Size of the address space that is reserved, so that no process must map the file again when it grows. The file uses only the disk
 * space it needs.
 */
const mapBytes = 2 ** 40

/** Keys with the first byte 0 belong to this module. All others belong to the store. */
const formatKey = Buffer.from('\0format')
const idKey = Buffer.from('\0id')

export async function openEnvironment(options: EnvironmentOptions): Promise<LmdbStore> {
  const deadline = Date.now() + options.createdWithinMs
  if (options.access === 'write') mkdirSync(options.folder, { recursive: true })
  for (;;) {
    const store = await tryOpenInTurn(options)
    if (store !== undefined) return store
    if (Date.now() >= deadline) {
      throw new DataFolderError(`There is no ${options.content} in ${options.folder}.`)
    }
    await sleep(25)
  }
}

async function tryOpenInTurn(options: EnvironmentOptions): Promise<LmdbStore | undefined> {
  const { folder, content } = options
  if (options.access === 'read' && !existsSync(join(folder, 'data.mdb'))) return undefined
  try {
    return await openInTurn({ folder, answerWithinMs }, async (gate) => {
      const store = await tryOpen(options)
      if (store !== undefined) commitThrough(store, gate)
      return store
    })
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error
    throw new DataFolderError(
      `A process that has the ${content} in ${folder} open did not answer within ${answerWithinMs / 1_000} s. Stop or restart it.`,
      { cause: error },
    )
  }
}

/** Processes answer between two tasks of their event loop, after the commits that they have begun. */
const answerWithinMs = 30_000

async function tryOpen(options: EnvironmentOptions): Promise<LmdbStore | undefined> {
  const isReader = options.access === 'read'
  const store = open<Buffer, Buffer>({
    path: options.folder,
    // lmdb would treat a folder name with a dot as a file name.
    noSubdir: false,
    encoding: 'binary',
    keyEncoding: 'binary',
    mapSize: mapBytes,
    // With overlapping syncs, a process that is killed during a sync can lose commits that other processes have already read
    // (see docs/decisions/hot-state.md, lmdb commits do not overlap their syncs).
    overlappingSync: false,
    // With batching, a failed commit also rejects a promise that cannot be reached, which ends the process.
    eventTurnBatching: false,
    readOnly: isReader,
    maxReaders: 512,
  })
  const stored = isReader ? readFormat(store) : createFormat(store, options.formatVersion)
  if (stored === undefined) {
    await store.close()
    return undefined
  }
  if (stored !== options.formatVersion) {
    await store.close()
    const release = stored > options.formatVersion ? 'a newer' : 'an older'
    throw new DataFolderError(
      `The ${options.content} in ${options.folder} was written by ${release} release (format ${stored}, this release reads ${options.formatVersion}).`,
    )
  }
  endProcessWhenGivenUp(store)
  const close = store.close.bind(store)
  let closed: Promise<void> | undefined
  store.close = () => (closed ??= closeInTurn(options.folder, close))
  return store
}

const givenUpCheckMs = 500

/**
 * Ends the process after a fatal error of lmdb. If the disk refuses the last page of a commit, lmdb rejects all further use of the
 * environment in this process (MDB_PANIC). Only a restart helps, because lmdb opens an environment once per process. The error is
 * thrown in a timer, where nothing catches it, so the process exits with that reason and its supervisor restarts it.
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

/** Returns the random id that the environment got when it was created. An environment that replaces it has a different id. */
export function readEnvironmentId(store: LmdbStore): string {
  return store.getBinary(idKey)!.toString('latin1')
}
