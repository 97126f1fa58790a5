import { openEnvironment } from '../src/lmdb/environment.ts'
import type { LmdbStore } from '../src/lmdb/lmdb-store.ts'

/** Opens an environment in which each process counts up a key of its own. */
export function openCountedEnvironment(folder: string): Promise<LmdbStore> {
  return openEnvironment({
    folder,
    content: 'test',
    formatVersion: 1,
    access: 'write',
    createdWithinMs: 0,
  })
}

export function readCount(store: LmdbStore, key: Buffer): number {
  return Number(store.getBinary(key)?.toString() ?? 0)
}
