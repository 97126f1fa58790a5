import { closeSync, existsSync, openSync } from 'node:fs'
import { DataFolderError } from '../../lmdb/environment.ts'
import { Chunk, type CommitPlace } from './chunk.ts'
import { DurableStateReader, type DurableState } from './durable-state.ts'
import { listSegments, readHeader, readSegmentHeader, segmentPath } from './segment-files.ts'
import type { SegmentHeader } from './segment-header.ts'

export type SegmentReport = {
  readonly number: number
  readonly path: string
  readonly state: 'whole' | 'damaged' | 'missing'
  /** What is wrong, in words. */
  readonly reason?: string
  /** By stream: the offset of its first record in the segment. Undefined where no header tells. */
  readonly heads: readonly number[] | undefined
  /** By stream: the offset behind its last record in the segment. Undefined where no header tells. */
  readonly nextHeads: readonly number[] | undefined
}

/** Resolves when so many bytes may have been read. */
export type Pace = (bytes: number) => Promise<void>

/**
 * Reads one segment through and checks the sum of every commit. `durable` says where the segment that is written ends;
 * of the others their successor's header says so. Throws ENOENT when the segment is deleted meanwhile.
 */
export async function verifySegment(
  folder: string,
  number: number,
  durable: DurableState,
  pace: Pace,
): Promise<SegmentReport> {
  const path = segmentPath(folder, number)
  const isLast = number === durable.segment
  const next = isLast ? undefined : tryReadHeader(folder, number + 1)
  const nextHeads = isLast ? durable.heads : next?.heads
  const own = tryReadHeader(folder, number)
  const report = { number, path, heads: own?.heads, nextHeads }
  if (!existsSync(path)) return { ...report, state: 'missing', reason: 'the file is missing' }
  if (own === undefined) return { ...report, state: 'damaged', reason: 'its header is damaged' }
  const end = isLast ? durable.end : next?.previousEnd
  const reason = await findDamage(path, end, nextHeads, pace)
  return reason === undefined
    ? { ...report, state: 'whole' }
    : { ...report, state: 'damaged', reason }
}

/** All segments of the log in a folder, oldest first, also those whose file is missing. Of a running log, as of now. */
export async function* verifySegments(folder: string, pace: Pace): AsyncGenerator<SegmentReport> {
  const numbers = listSegments(folder)
  const durable = readDurable(folder)
  const first = numbers[0]
  if (first === undefined) return
  const last = durable.segment
  for (let number = Math.max(first, durable.oldestSegment); number <= last; number += 1) {
    try {
      yield await verifySegment(folder, number, durable, pace)
    } catch (error) {
      // Trimmed meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}

/** Where the log ends. The file is synced by nobody, so after a power loss it may be missing; then the newest header counts. */
export function readDurable(folder: string): DurableState {
  const reader = DurableStateReader.tryOpen(folder)
  if (reader !== undefined) {
    try {
      return reader.read()
    } finally {
      reader.close()
    }
  }
  throw new DataFolderError(
    `${folder} does not say where the log ends. Start Tollgate on it once, then try again.`,
  )
}

async function findDamage(
  path: string,
  end: number | undefined,
  nextHeads: readonly number[] | undefined,
  pace: Pace,
): Promise<string | undefined> {
  const fd = openSync(path, 'r')
  try {
    const header = readHeader(fd, path)
    let place: CommitPlace = { at: header.bytes, sequence: header.sequence, heads: header.heads }
    // Without a successor's header nobody knows where this one ends; that is told of the successor.
    while (end !== undefined && place.at < end) {
      const chunk = new Chunk(place)
      const outcome = chunk.extend(fd, end, header.mark)
      const { next } = chunk
      await pace(next.at - place.at)
      place = next
      if (outcome === 'stopped') return `it has no valid commit at byte ${place.at} of ${end}`
    }
    const differs = nextHeads?.some((head, stream) => head !== (place.heads[stream] ?? 0)) ?? false
    if (end !== undefined && differs) return 'it has fewer or more records than its successor says'
    return undefined
  } finally {
    closeSync(fd)
  }
}

function tryReadHeader(folder: string, number: number): SegmentHeader | undefined {
  try {
    return readSegmentHeader(folder, number)
  } catch (error) {
    const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT'
    if (isGone || error instanceof DataFolderError) return undefined
    throw error
  }
}
