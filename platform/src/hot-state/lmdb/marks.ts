import type { LmdbStore } from '../../lmdb/environment.ts'
import type { Mark } from '../hot-state.ts'
import { hotKey, keySpaces, timePart } from './hot-keys.ts'
import { markIdBytes, writeMarkId } from '../mark-id.ts'

/*
 * A mark is offset (u48) and receive time (u48). Every batch also writes, per minute of receive time, the list of ids
 * it marked: the sweep deletes by these lists and never has to look at a mark that is still needed.
 */
const markBytes = 12

export function markKey(partitionPart: Buffer, id: Buffer): Buffer {
  return hotKey(keySpaces.mark, partitionPart, id)
}

export function readMarks(
  store: LmdbStore,
  partitionPart: Buffer,
  ids: readonly string[],
): (number | undefined)[] {
  const key = new ReusedMarkKey(partitionPart)
  return ids.map((id) => store.getBinaryFast(key.of(id))?.readUIntLE(0, 6))
}

/** Call inside a write transaction. Sets the marks that are missing and moves none. */
export function setMissingMarks(
  store: LmdbStore,
  partitionPart: Buffer,
  marks: readonly Mark[],
): void {
  const listsByMinute = new Map<number, MarkIdList>()
  const key = new ReusedMarkKey(partitionPart)
  const value = Buffer.allocUnsafeSlow(markBytes)
  for (const { id, offset, receivedAtMs } of marks) {
    value.writeUIntLE(offset, 0, 6)
    value.writeUIntLE(receivedAtMs, 6, 6)
    // It does return whether it has put, though its type says otherwise.
    const isNew = store.putSync(key.of(id), value, onlyIfMissing) as unknown
    if (isNew !== true) continue
    const minute = Math.floor(receivedAtMs / 60_000)
    let list = listsByMinute.get(minute)
    if (list === undefined) {
      list = new MarkIdList()
      listsByMinute.set(minute, list)
    }
    list.add(key.idBytes)
  }
  for (const [minute, list] of listsByMinute) {
    const ids = list.finish()
    // The first id makes the key unique: no other batch has set it.
    const first = ids.subarray(0, markIdBytes)
    store.putSync(hotKey(keySpaces.markMinute, partitionPart, timePart(minute), first), ids)
  }
}

const onlyIfMissing = { noOverwrite: true }

/** lmdb copies keys, so the keys of a whole batch are written into one buffer. */
class ReusedMarkKey {
  /** The part of the key that is the id's. */
  readonly idBytes: Buffer
  readonly #key: Buffer
  readonly #idAt: number

  constructor(partitionPart: Buffer) {
    this.#key = markKey(partitionPart, Buffer.alloc(markIdBytes))
    this.#idAt = this.#key.length - markIdBytes
    this.idBytes = this.#key.subarray(this.#idAt)
  }

  of(id: string): Buffer {
    writeMarkId(id, this.#key, this.#idAt)
    return this.#key
  }
}

class MarkIdList {
  /** Grows, because a batch that catches up with quiet days has few ids in each of many minutes. */
  #bytes = Buffer.allocUnsafe(4 * markIdBytes)
  #used = 0

  add(id: Buffer): void {
    if (this.#used === this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes, Buffer.allocUnsafe(this.#used)])
    }
    this.#bytes.set(id, this.#used)
    this.#used += markIdBytes
  }

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#used)
  }
}
