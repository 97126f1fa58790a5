import { write } from 'node:fs'
import { promisify } from 'node:util'

/** Writes all bytes at a position of the file. A single write may be partial when the disk is nearly full. */
export function writeWhole(
  fd: number,
  bytes: Buffer,
  at: number,
  done: (error: NodeJS.ErrnoException | null) => void,
): void {
  write(fd, bytes, 0, bytes.length, at, (error, written) => {
    if (error !== null || written === bytes.length) done(error)
    else writeWhole(fd, bytes.subarray(written), at + written, done)
  })
}

export const writeWholeAsync = promisify(writeWhole)
