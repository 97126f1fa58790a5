import { crc32 } from 'node:zlib'
import type { CallRecord } from './call-record.ts'

/*
 * Each line is one record: the CRC-32 of the JSON as 8 hexadecimal digits, a space, the record as JSON, a line feed. JSON text
 * contains no line feed, so a reader finds the next record after any damage.
 */

const sumChars = 8
const lineFeed = 0x0a

export function encodeFrame(record: CallRecord): Buffer {
  const json = Buffer.from(JSON.stringify(record))
  const sum = crc32(json).toString(16).padStart(sumChars, '0')
  return Buffer.concat([Buffer.from(`${sum} `), json, Buffer.from('\n')])
}

export type DecodedFrame = {
  /** Undefined if the line is damaged. */
  readonly record: CallRecord | undefined
  /** Bytes from the start of the buffer to the end of the line. */
  readonly end: number
}

/** Decodes all lines that end within the buffer. An incomplete last line is left for a later read. */
export function* decodeFrames(bytes: Buffer): Generator<DecodedFrame> {
  let start = 0
  for (;;) {
    const at = bytes.indexOf(lineFeed, start)
    if (at === -1) return
    yield { record: decodeLine(bytes.subarray(start, at)), end: at + 1 }
    start = at + 1
  }
}

function decodeLine(line: Buffer): CallRecord | undefined {
  const json = line.subarray(sumChars + 1)
  const sum = line.toString('latin1', 0, sumChars)
  if (crc32(json).toString(16).padStart(sumChars, '0') !== sum) return undefined
  return JSON.parse(json.toString('utf8')) as CallRecord
}
