import { uncompress } from 'snappyjs'

/*
 * Java's clients write snappy with the framing of the library snappy-java: a header, then blocks that each follow their length.
 * Other clients write one block without framing.
 */
const framing = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0])
const headerBytes = framing.byteLength + 4 + 4 // version, compatible version

/** Throws if the result would have more than `bytesMax` bytes, or if the bytes are corrupt. */
export function decompressSnappy(bytes: Buffer, bytesMax: number): Buffer {
  if (!bytes.subarray(0, framing.byteLength).equals(framing)) return uncompress(bytes, bytesMax)
  const blocks: Buffer[] = []
  let left = bytesMax
  for (let at = headerBytes; at < bytes.byteLength;) {
    const end = at + 4 + bytes.readInt32BE(at)
    if (end <= at || end > bytes.byteLength) throw new Error('A block ends too early.')
    const block = uncompress(bytes.subarray(at + 4, end), left)
    left -= block.byteLength
    blocks.push(block)
    at = end
  }
  return Buffer.concat(blocks)
}
