import { crc32 } from 'node:zlib'
import { DataFolderError } from '../../lmdb/environment.ts'
import { createCatalogue, type TopicCatalogue, type TopicEntry } from './topic-catalogue.ts'

/**
 * Header of a segment: describes the segment and the log before it. No other file is needed: the header of the newest segment is
 * the catalogue of topics, and all headers together are the index of the log.
 */
export type SegmentOrigin = {
  readonly number: number
  readonly topics: TopicCatalogue
  /** Offset of the first record in this segment, by stream. */
  readonly heads: readonly number[]
  /** Sequence number of the first commit. */
  readonly sequence: number
  /** Random bytes that every commit of this segment contains and that clients cannot know. */
  readonly mark: Buffer
  /** End of the commits of the previous segment, in bytes of its file; 0 in the first segment. */
  readonly previousEnd: number
  /** Newest receive time in the previous segment, in Unix milliseconds. */
  readonly previousNewestMs: number
}

export type SegmentHeader = SegmentOrigin & {
  /** Length of the header in bytes; the first commit follows. */
  readonly bytes: number
}

/** Format of the segments. Format 1 was an LMDB environment. */
export const formatVersion = 2

/** Format, little-endian: magic word, crc32 u32 of everything after it, format u32, length of the JSON in bytes u32, mark, JSON. */
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

/** Returns the length of the whole header from its fixed part. */
export function headerBytes(start: Buffer): number {
  return fixedHeaderBytes + start.readUInt32LE(16)
}

/** Decodes a complete header. Throws a DataFolderError that names `path` if it is damaged or too new. */
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
