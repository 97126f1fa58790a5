import { hash } from 'node:crypto'
import type { LmdbStore } from '../../lmdb/environment.ts'
import type { Mark } from '../hot-state.ts'
import { hotKey, keySpaces, timePart } from './hot-keys.ts'

/*
 * A mark is stored under the first 128 bits of its id's SHA-256: offset (u48) and receive time (u48). Every batch also
 * writes, per minute of receive time, the list of ids it marked: the sweep deletes by these lists and never has to
 * look at a mark that is still needed.
 */
export const markIdBytes = 16
const markBytes = 12

export function markId(id: string): Buffer {
  return hash('sha256', id, 'buffer').subarray(0, markIdBytes)
}

export function markKey(partitionPart: Buffer, id: Buffer): Buffer {
  return hotKey(keySpaces.mark, partitionPart, id)
}

export function readMarks(
  store: LmdbStore,
  partitionPart: Buffer,
  ids: readonly string[],
): (number | undefined)[] {
  const key = new ReusedMarkKey(partitionPart)
  return ids.map((id) => store.getBinaryFast(key.of(markId(id)))?.readUIntLE(0, 6))
}

/** Call inside a write transaction. Sets the marks that are missing and moves none. */
export function setMissingMarks(
  store: LmdbStore,
  partitionPart: Buffer,
  marks: readonly Mark[],
): void {
  const idsByMinute = new Map<number, Buffer[]>()
  const key = new ReusedMarkKey(partitionPart)
  const value = Buffer.allocUnsafeSlow(markBytes)
  for (const { id, offset, receivedAtMs } of marks) {
    const hashed = markId(id)
    value.writeUIntLE(offset, 0, 6)
    value.writeUIntLE(receivedAtMs, 6, 6)
    // It does return whether it has put, though its type says otherwise.
    const isNew = store.putSync(key.of(hashed), value, onlyIfMissing) as unknown
    if (isNew !== true) continue
    const minute = Math.floor(receivedAtMs / 60_000)
    const ids = idsByMinute.get(minute)
    if (ids === undefined) idsByMinute.set(minute, [hashed])
    else ids.push(hashed)
  }
  for (const [minute, ids] of idsByMinute) {
    // The first id makes the key unique: no other batch has set it.
    const list = hotKey(keySpaces.markMinute, partitionPart, timePart(minute), ids[0]!)
    store.putSync(list, Buffer.concat(ids))
  }
}

const onlyIfMissing = { noOverwrite: true }

/** lmdb copies keys, so the keys of a whole batch are written into one buffer. */
class ReusedMarkKey {
  readonly #key: Buffer
  readonly #idAt: number

  constructor(partitionPart: Buffer) {
    this.#key = markKey(partitionPart, Buffer.alloc(markIdBytes))
    this.#idAt = this.#key.length - markIdBytes
  }

  of(id: Buffer): Buffer {
    this.#key.set(id, this.#idAt)
    return this.#key
  }
}
