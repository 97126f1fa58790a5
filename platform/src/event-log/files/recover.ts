import { randomBytes } from 'node:crypto'
import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { DataFolderError } from '../../lmdb/environment.ts'
import { repairHint } from '../log-damaged-error.ts'
import { hasLaterCommit } from './commit-format.ts'
import { DurableStateReader } from './durable-state.ts'
import { firstSegmentBytes, LogTail, type TailPlace } from './log-tail.ts'
import {
  discardPrepared,
  installSegment,
  openForCommits,
  prepareSegment,
  syncFolder,
} from './new-segment.ts'
import { listSegments, segmentMissing } from './segment-files.ts'
import { Segment } from './segment.ts'
import { createCatalogue, withTopics } from './topic-catalogue.ts'

export type RecoveredLog = {
  readonly tail: LogTail
  /** The segment that was read and verified. */
  readonly segment: Segment | undefined
}

/**
 * Opens the end of the log for writing after any crash of a writer. A complete commit is kept, acknowledged or not; an incomplete
 * one is overwritten with zeros. Only one commit is written at a time, so only the last one can be incomplete. Otherwise
 * acknowledged records are damaged, and opening fails.
 */
export async function recoverLog(
  folder: string,
  wantedTopics: Readonly<Record<string, number>>,
  segmentBytesMax: number,
): Promise<RecoveredLog> {
  discardPrepared(folder)
  const numbers = listSegments(folder)
  refuseGaps(folder, numbers)
  const last = numbers.at(-1)
  if (last === undefined) {
    const place = await createFirst(
      folder,
      wantedTopics,
      Math.min(firstSegmentBytes, segmentBytesMax),
    )
    return { tail: new LogTail(folder, segmentBytesMax, place), segment: undefined }
  }
  const segment = Segment.open(folder, last)
  try {
    const topics = withTopics(segment.header.topics, wantedTopics)
    const fileBytes = repairEnd(folder, segment)
    await syncFolder(folder)
    const { at, sequence, heads } = segment.next
    const tail = new LogTail(folder, segmentBytesMax, {
      file: await openForCommits(segment.path),
      fileBytes,
      header: segment.header,
      end: at,
      sequence,
      newestMs: Math.max(segment.newestMs, 0),
      heads,
      oldestSegment: numbers[0]!,
    })
    if (topics !== segment.header.topics) await tail.roll(topics)
    return { tail, segment }
  } catch (error) {
    segment.close()
    throw error
  }
}

async function createFirst(
  folder: string,
  wantedTopics: Readonly<Record<string, number>>,
  fileBytes: number,
): Promise<TailPlace> {
  const topics = withTopics(createCatalogue([]), wantedTopics)
  const heads = new Array<number>(topics.streamCount).fill(0)
  await prepareSegment(folder, fileBytes)
  const number = 1
  const { file, header } = await installSegment(folder, {
    number,
    topics,
    heads,
    sequence: 0,
    mark: randomBytes(8),
    previousEnd: 0,
    previousNewestMs: 0,
  })
  const end = header.bytes
  return { file, fileBytes, header, end, sequence: 0, newestMs: 0, heads, oldestSegment: number }
}

function refuseGaps(folder: string, numbers: readonly number[]): void {
  const durable = readDurable(folder)
  const missing =
    numbers.find((number, index) => index > 0 && number !== numbers[index - 1]! + 1) ??
    (durable !== undefined && durable.segment > (numbers.at(-1) ?? 0)
      ? durable.segment + 1
      : undefined)
  if (missing === undefined) return
  throw new DataFolderError(`${segmentMissing(folder, missing - 1).message} ${repairHint}`)
}

function readDurable(folder: string) {
  const reader = DurableStateReader.tryOpen(folder)
  const state = reader?.read()
  reader?.close()
  return state
}

/** Verifies the segment and clears the bytes after its last commit. Returns the size of the file in bytes. */
function repairEnd(folder: string, segment: Segment): number {
  const fd = openSync(segment.path, 'r+')
  try {
    const fileBytes = fstatSync(fd).size
    while (segment.readOn(fileBytes) && segment.next.at < fileBytes);
    const { at, sequence } = segment.next
    const durable = readDurable(folder)
    if (durable?.segment === segment.header.number && durable.end > at) {
      throw new DataFolderError(
        `The event log is damaged: ${segment.path} ends at byte ${at}, and records up to byte ${durable.end} were acknowledged.`,
      )
    }
    const rest = writtenBytes(fd, at, fileBytes)
    if (hasLaterCommit(rest, { mark: segment.header.mark, sequence })) throw segment.damagedAt(at)
    writeSync(fd, Buffer.alloc(rest.length), 0, rest.length, at)
    // The previous writer may have been killed while it wrote its last commit.
    fdatasyncSync(fd)
    return fileBytes
  } finally {
    closeSync(fd)
  }
}

/** Returns the bytes from `from` to the last byte that is not zero. */
function writtenBytes(fd: number, from: number, to: number): Buffer {
  const piece = Buffer.alloc(pieceBytes)
  const zeros = Buffer.alloc(pieceBytes)
  let end = from
  for (let at = from; at < to;) {
    const read = readSync(fd, piece, 0, Math.min(pieceBytes, to - at), at)
    if (read === 0) break
    at += read
    if (!piece.subarray(0, read).equals(zeros.subarray(0, read))) end = at
  }
  const bytes = Buffer.alloc(end - from)
  readSync(fd, bytes, 0, bytes.length, from)
  return bytes
}

const pieceBytes = 2 ** 20
