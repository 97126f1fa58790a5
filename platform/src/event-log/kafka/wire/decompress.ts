import { constants, gunzipSync } from 'node:zlib'
import { codecIds } from './codecs.ts'
import { decompressLz4 } from './lz4.ts'
import { decompressSnappy } from './snappy.ts'
import { decompressZstd } from './zstd.ts'

/** Usual growth of a batch of usage. A result in one piece is not copied. */
const usualGrowth = 5

/**
 * Returns the decompressed bytes, at most `bytesMax`. Throws if there would be more, or if the bytes are corrupt or in an unknown
 * format. Never allocates much more than `bytesMax`.
 */
export function decompress(codecId: number, bytes: Buffer, bytesMax: number): Buffer {
  const chunkSize = Math.max(
    constants.Z_MIN_CHUNK,
    Math.min(bytesMax, usualGrowth * bytes.byteLength),
  )
  switch (codecId) {
    case codecIds.gzip:
      return gunzipSync(bytes, { maxOutputLength: bytesMax, chunkSize })
    case codecIds.snappy:
      return decompressSnappy(bytes, bytesMax)
    case codecIds.lz4:
      return decompressLz4(bytes, bytesMax)
    case codecIds.zstd:
      return asBuffer(decompressZstd(bytes, bytesMax, chunkSize))
    default:
      throw new Error(`There is no codec ${codecId}.`)
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
