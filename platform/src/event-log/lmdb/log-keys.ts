/*
 * A batch is stored under (topic, partition, LAST offset), big-endian, so that
 * - the batch that holds an offset is the first key at or after it: one forward seek;
 * - the head of a partition is its last key plus one: the value need not be read.
 */
const batchSpace = 1
export const batchKeyBytes = 11
export const offsetMax = 2 ** 48 - 1

/** Writes into `key`, which may be reused: lmdb copies keys. */
export function writeBatchKey(
  key: Buffer,
  topicId: number,
  partition: number,
  lastOffset: number,
): Buffer {
  key[0] = batchSpace
  key.writeUInt16BE(topicId, 1)
  key.writeUInt16BE(partition, 3)
  key.writeUIntBE(lastOffset, 5, 6)
  return key
}

export function batchKey(topicId: number, partition: number, lastOffset: number): Buffer {
  return writeBatchKey(Buffer.allocUnsafe(batchKeyBytes), topicId, partition, lastOffset)
}

export function lastOffsetOfKey(key: Uint8Array): number {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).readUIntBE(5, 6)
}

/** Where the catalogue of topics is kept. */
export const topicsKey = Buffer.from('\0topics')
/** Written only to learn whether a commit would succeed. */
export const probeKey = Buffer.from('\0probe')
