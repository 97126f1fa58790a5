import { crc32 } from 'node:zlib'
import { DataFolderError } from '../../lmdb/environment.ts'
import { createCatalogue, type TopicCatalogue, type TopicEntry } from './topic-catalogue.ts'

/**
 * What a segment says about itself and about the log before it, so that nothing else need be kept: the newest
 * segment's header is the catalogue of topics, and the headers together are the index of the log.
 */
export type SegmentOrigin = {
  readonly number: number
  readonly topics: TopicCatalogue
  /** By stream: the offset of its first record in this segment, if it has one here. */
  readonly heads: readonly number[]
  /** Sequence number of the first commit. */
  readonly sequence: number
  /** Random bytes that every commit of this segment carries and that no client can know. */
  readonly mark: Buffer
  /** Where the commits of the segment before this one end, in bytes of its file. 0 in the first segment. */
  readonly previousEnd: number
  /** Newest receive time in the segment before this one, Unix milliseconds. */
  readonly previousNewestMs: number
}

export type SegmentHeader = SegmentOrigin & {
  /** Bytes of the header; the first commit follows. */
  readonly bytes: number
}

/** Format 1 was an lmdb environment. */
export const formatVersion = 2

/** Magic word, then crc32 u32 of all that follows, format u32, bytes of the JSON u32, mark, JSON. Little-endian. */
const magic = Buffer.from('tollglog')
const checkedFrom = 12
const markAt = 20
const markBytes = 8
export const fixedHeaderBytes = markAt + markBytes

type Stored = Omit<SegmentOrigin, 'topics' | 'mark'> & { readonly topics: readonly TopicEntry[] }

export function encodeSegmentHeader(origin: SegmentOrigin, version = formatVersion): Buffer {
  const { topics, mark, ...numbers } = origin
  const stored: Stored = { ...numbers, topics: topics.entries }
  const json = Buffer.from(JSON.stringify(stored))
  const bytes = Buffer.alloc(fixedHeaderBytes + json.length)
  bytes.set(magic, 0)
  bytes.writeUInt32LE(version, 12)
  bytes.writeUInt32LE(json.length, 16)
  bytes.set(mark, markAt)
  bytes.set(json, fixedHeaderBytes)
  bytes.writeUInt32LE(crc32(bytes.subarray(checkedFrom)), 8)
  return bytes
}

/** Bytes of the whole header whose fixed part is `start`. */
export function headerBytes(start: Buffer): number {
  return fixedHeaderBytes + start.readUInt32LE(16)
}

/** Decodes a whole header. `path` is for the error message. */
export function decodeSegmentHeader(bytes: Buffer, path: string): SegmentHeader {
  const isWhole =
    bytes.subarray(0, magic.length).equals(magic) &&
    bytes.readUInt32LE(8) === crc32(bytes.subarray(checkedFrom))
  if (!isWhole) {
    throw new DataFolderError(`The event log is damaged: ${path} has no valid header.`)
  }
  const version = bytes.readUInt32LE(12)
  if (version > formatVersion) {
    throw new DataFolderError(
      `The event log in ${path} was written by a newer release (format ${version}, this release reads up to ${formatVersion}).`,
    )
  }
  const json = bytes.subarray(fixedHeaderBytes).toString()
  const { topics, ...stored } = JSON.parse(json) as Stored
  return {
    ...stored,
    topics: createCatalogue(topics),
    mark: bytes.subarray(markAt, fixedHeaderBytes),
    bytes: bytes.length,
  }
}
