import { createRequire } from 'node:module'
import type * as Lz4 from 'lz4-napi'

const require = createRequire(import.meta.url)
let loaded: typeof Lz4 | undefined

/** Loads the native library at its first use, because most logs have no batch in this format. */
function library(): typeof Lz4 {
  return (loaded ??= require('lz4-napi') as typeof Lz4)
}

export function compressLz4(bytes: Buffer): Buffer {
  return library().compressFrameSync(bytes)
}

/** Throws a RangeError if the result may have more than `bytesMax` bytes, and another error if the bytes are corrupt. */
export function decompressLz4(bytes: Buffer, bytesMax: number): Buffer {
  // The library accepts no limit, but it refuses a block that is larger than its frame allows.
  if (frameBytesMax(bytes) > bytesMax) throw new RangeError('The frame is too large.')
  return library().decompressFrameSync(bytes)
}

const magicNumber = 0x184d2204
const flagsAt = 4
const blockSizeAt = 5
const hasBlockChecksum = 0x10
const hasContentSize = 0x08
const hasContentChecksum = 0x04
const hasDictionaryId = 0x01
const isUncompressed = 0x80000000

/**
 * Returns the largest number of bytes that the frame can contain: each block has at most the size of its frame's blocks, and one
 * byte of a block makes at most 255.
 */
function frameBytesMax(bytes: Buffer): number {
  if (bytes.readUInt32LE(0) !== magicNumber) throw new Error('The bytes are no LZ4 frame.')
  const flags = bytes.readUInt8(flagsAt)
  const blockBytesMax = 2 ** (8 + 2 * ((bytes.readUInt8(blockSizeAt) >> 4) & 0x07))
  const checksumBytes = (flags & hasBlockChecksum) === 0 ? 0 : 4
  let total = 0
  let at = 7 + ((flags & hasContentSize) === 0 ? 0 : 8) + ((flags & hasDictionaryId) === 0 ? 0 : 4)
  for (;;) {
    const size = bytes.readUInt32LE(at)
    if (size === 0) {
      const end = at + 4 + ((flags & hasContentChecksum) === 0 ? 0 : 4)
      if (end !== bytes.byteLength) throw new Error('The LZ4 frame ends elsewhere.')
      return total
    }
    const storedBytes = size % isUncompressed
    total += Math.min(blockBytesMax, size >= isUncompressed ? storedBytes : 255 * storedBytes)
    at += 4 + storedBytes + checksumBytes
  }
}
