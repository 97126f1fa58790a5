import { constants, gzipSync } from 'node:zlib'
import { codecIds, type CodecName } from './codecs.ts'
import { compressLz4 } from './lz4.ts'
import { canCompressZstd, compressZstd } from './zstd.ts'

/** Codecs of the writer. Snappy saves as little as lz4 and takes longer. */
export type WriterCodec = Exclude<CodecName, 'snappy'>

/** Compresses the records of a batch. */
export type Compression = {
  readonly codecId: number
  readonly compress: (records: Buffer) => Buffer
}

/** Returns the codec that compresses best on this version of Node. */
export function bestCodec(): WriterCodec {
  return canCompressZstd ? 'zstd' : 'gzip'
}

/** Returns undefined for `none`. Throws if this version of Node lacks the codec. */
export function compressionOf(codec: WriterCodec): Compression | undefined {
  switch (codec) {
    case 'none':
      return undefined
    case 'gzip':
      return { codecId: codecIds.gzip, compress: compressGzip }
    case 'lz4':
      return { codecId: codecIds.lz4, compress: compressLz4 }
    case 'zstd':
      if (!canCompressZstd) {
        throw new Error(
          'TOLLGATE_KAFKA_COMPRESSION=zstd needs Node 22.15 or later. Use auto, gzip or lz4.',
        )
      }
      return { codecId: codecIds.zstd, compress: compressZstd }
  }
}

/** The window covers about 30 records. A larger one takes longer to set up and saves under 2% of the bytes. */
const gzipOptions = { level: 1, memLevel: 7, windowBits: 13 } as const

function compressGzip(records: Buffer): Buffer {
  const chunkSize = Math.max(constants.Z_MIN_CHUNK, records.byteLength)
  return gzipSync(records, { ...gzipOptions, chunkSize })
}
