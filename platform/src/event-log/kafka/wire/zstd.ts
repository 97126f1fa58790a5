import * as zlib from 'node:zlib'

/*
 * Node has zstd since 22.15 and 23.8. On Node 20 a decoder in WebAssembly reads what writers on later versions compressed, so that
 * processes on both versions can share one log. There is no encoder on Node 20.
 */

type RuntimeZstd = {
  readonly zstdCompressSync?: (bytes: Uint8Array, options: object) => Buffer
  readonly zstdDecompressSync?: (bytes: Uint8Array, options: object) => Buffer
  readonly constants: { readonly ZSTD_c_compressionLevel?: number }
}

type Decode = (bytes: Uint8Array, bytesMax: number) => Uint8Array

// The types of Node 20 lack these functions.
const { zstdCompressSync, zstdDecompressSync, constants } = zlib as unknown as RuntimeZstd

/** The fastest positive level. Level 3 takes up to twice as long and saves nothing on batches of usage. */
const level = 1

export const canCompressZstd = zstdCompressSync !== undefined

let decodeInWasm: Decode | undefined

/** Loads the decoder if this version of Node has none. Resolves before the first batch is decoded. */
export async function loadZstd(): Promise<void> {
  if (zstdDecompressSync !== undefined || decodeInWasm !== undefined) return
  const { ZSTDDecoder } = await import('zstddec')
  const decoder = new ZSTDDecoder()
  await decoder.init()
  decodeInWasm = (bytes, bytesMax) => decodeWithin(decoder, bytes, bytesMax)
}

export function compressZstd(bytes: Uint8Array): Buffer {
  return zstdCompressSync!(bytes, {
    params: { [constants.ZSTD_c_compressionLevel!]: level },
    chunkSize: Math.max(zlib.constants.Z_MIN_CHUNK, bytes.byteLength),
  })
}

/** Throws a RangeError if the result would have more than `bytesMax` bytes, and another error if the bytes are corrupt. */
export function decompressZstd(bytes: Uint8Array, bytesMax: number, chunkSize: number): Uint8Array {
  if (zstdDecompressSync !== undefined) {
    return zstdDecompressSync(bytes, { maxOutputLength: bytesMax, chunkSize })
  }
  if (decodeInWasm === undefined) throw new Error('The zstd decoder is not loaded.')
  return decodeInWasm(bytes, bytesMax)
}

/**
 * The decoder returns nothing if the result has more than `capacity` bytes, and also if the bytes are corrupt. So larger capacities
 * are tried up to the maximum. An empty result can only be a failure, because a batch is never empty.
 */
function decodeWithin(
  decoder: { decode(bytes: Uint8Array, capacity: number): Uint8Array },
  bytes: Uint8Array,
  bytesMax: number,
): Uint8Array {
  for (let capacity = 8 * bytes.byteLength; ; capacity *= 8) {
    const decoded = decoder.decode(bytes, Math.min(capacity, bytesMax))
    if (decoded.byteLength > 0) return decoded
    if (capacity >= bytesMax) {
      throw new Error(`The bytes are corrupt, or have more than ${bytesMax} bytes decompressed.`)
    }
  }
}
