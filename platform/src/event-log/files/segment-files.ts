import { closeSync, existsSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { DataFolderError } from '../../lmdb/environment.ts'
import {
  decodeSegmentHeader,
  fixedHeaderBytes,
  formatVersion,
  headerBytes,
  type SegmentHeader,
} from './segment-header.ts'

const ending = '.seg'

export function segmentPath(folder: string, number: number): string {
  return join(folder, `${number}`.padStart(20, '0') + ending)
}

/** Returns the numbers of the segments in the folder, ascending. */
export function listSegments(folder: string): number[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => Number(name.slice(0, -ending.length)))
    .sort((a, b) => a - b)
}

export function readSegmentHeader(folder: string, number: number): SegmentHeader {
  const path = segmentPath(folder, number)
  const fd = openSync(path, 'r')
  try {
    return readHeader(fd, path)
  } finally {
    closeSync(fd)
  }
}

export function segmentMissing(folder: string, number: number): DataFolderError {
  return new DataFolderError(`The event log is damaged: ${segmentPath(folder, number)} is missing.`)
}

export function readHeader(fd: number, path: string): SegmentHeader {
  const start = Buffer.alloc(usualHeaderBytes)
  const read = readSync(fd, start, 0, start.length, 0)
  const wanted = read < fixedHeaderBytes ? read : headerBytes(start)
  if (wanted <= read) return decodeSegmentHeader(start.subarray(0, wanted), path)
  const whole = Buffer.alloc(Math.min(wanted, headerBytesMax))
  const wholeRead = readSync(fd, whole, 0, whole.length, 0)
  return decodeSegmentHeader(whole.subarray(0, wholeRead), path)
}

/** Throws if the folder contains a log of format 1, which was an LMDB environment. */
export function refuseOlderFormat(folder: string): void {
  if (!existsSync(join(folder, 'data.mdb'))) return
  throw new DataFolderError(
    `The event log in ${folder} was written by an older release (format 1, this release reads format ${formatVersion}).`,
  )
}

const usualHeaderBytes = 4 * 1024
/** Larger lengths mean a damaged header: 65,536 partitions need a tenth of this. */
const headerBytesMax = 16 * 1024 * 1024
