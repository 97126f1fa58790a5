import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import type { Mark } from '../hot-state.ts'
import { hotKey, keySpaces, timePart } from './hot-keys.ts'
import { markIdBytes, writeMarkId } from '../mark-id.ts'

/*
 * A mark is an offset (u48) and a receive time (u48). Every batch also writes the list of its new ids per minute of receive time:
 * the sweep deletes by these lists, and never reads a mark that is still needed.
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

/** Sets missing marks and changes no existing one. Call it inside a write transaction. */
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
    // `putSync` returns whether it stored the value, although its type says otherwise.
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
    // The first id makes the key unique, because no other batch has set it.
    const first = ids.subarray(0, markIdBytes)
    store.putSync(hotKey(keySpaces.markMinute, partitionPart, timePart(minute), first), ids)
  }
}

const onlyIfMissing = { noOverwrite: true }

/** Reuses one buffer for the keys of a whole batch, because lmdb copies keys. */
class ReusedMarkKey {
  /** The bytes of the id within the key. */
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
  /** Starts small and grows, because a batch that catches up with quiet days has few ids in each of many minutes. */
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
