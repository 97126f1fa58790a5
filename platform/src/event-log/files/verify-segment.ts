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
  /** Description of the damage. */
  readonly reason?: string
  /** Offset of the first record in the segment, by stream. Undefined if no header can be read. */
  readonly heads: readonly number[] | undefined
  /** Offset after the last record in the segment, by stream. Undefined if no header can be read. */
  readonly nextHeads: readonly number[] | undefined
}

/** Resolves when this many more bytes may be read. */
export type Pace = (bytes: number) => Promise<void>

/**
 * Reads one segment and verifies the checksum of every commit. `durable` contains the end of the segment being written; the end of
 * any other segment is in its successor's header. Throws ENOENT if the segment is deleted in between.
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

/**
 * Yields a report for every segment of the log, oldest first, including missing files. A running log is read in its current state.
 */
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
      // The segment was trimmed in between.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}

/**
 * Returns the durable extent of the log. Throws a DataFolderError if the file is missing, which can happen after a power failure,
 * because it is not synced.
 */
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
    // Without the successor's header the end of this segment is unknown. The report of the successor contains that damage.
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
