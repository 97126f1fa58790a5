import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { listSegments, segmentPath } from '../event-log/files/segment-files.ts'

/**
 * Inverts bytes of a segment of the embedded log, as a failing disk may do. `at` is the position as a share of the file, 0 to 1;
 * the header is at 0. Returns the path of the file.
 */
export function damageSegment(logFolder: string, segment: number, at = 0.5, bytes = 64): string {
  const path = segmentPath(logFolder, segment)
  const fd = openSync(path, 'r+')
  try {
    const from = Math.floor(fstatSync(fd).size * at)
    const piece = Buffer.alloc(bytes)
    const read = readSync(fd, piece, 0, bytes, from)
    for (let index = 0; index < read; index += 1) piece[index]! ^= 0xff
    writeSync(fd, piece, 0, read, from)
    return path
  } finally {
    closeSync(fd)
  }
}

/** Returns the numbers of all segments except the one that is being written, oldest first. */
export function sealedSegments(logFolder: string): number[] {
  return listSegments(logFolder).slice(0, -1)
}
