import type { Entry } from '../hot-state.ts'

/*
 * Format of an entry for the scripts, decoded with Lua's struct library, little-endian: version (f64), whether the entry is
 * published (u8: 1, plus 2 during an unfinished publication), then per window start and end (f64), whether it is listed (u8),
 * length of the id (u32) and the id. Times are doubles because both languages compute with them.
 */
const headerBytes = 9
const windowHeaderBytes = 21
const yes = 1

/** Number of windows that are stored with the version; the others are in a separate value (scripts/windows.ts). */
export const firstWindowsMax = 3

/** Encodes the windows of an entry that is published now. */
export function packWindows({ version, windows }: Entry): Buffer {
  const bytes = Buffer.allocUnsafe(bytesOf(windows))
  bytes.writeDoubleLE(version, 0)
  bytes[8] = yes
  let at = headerBytes
  for (const { id, fromSecond, toSecond } of windows) {
    bytes.writeDoubleLE(fromSecond, at)
    bytes.writeDoubleLE(toSecond, at + 8)
    bytes[at + 16] = yes
    const idBytes = bytes.write(id, at + windowHeaderBytes, 'utf8')
    bytes.writeUInt32LE(idBytes, at + 17)
    at += windowHeaderBytes + idBytes
  }
  return bytes
}

/** Returns the position in the encoded windows at which the separately stored ones begin. */
export function laterWindowsAt({ windows }: Entry): number {
  return bytesOf(windows.slice(0, firstWindowsMax))
}

/** Returns the end of the window that ends first, by which the scripts sort entries; empty without windows. */
export function firstEndText({ windows }: Entry): string {
  if (windows.length === 0) return ''
  return Math.min(...windows.map(({ toSecond }) => toSecond)).toString()
}

function bytesOf(windows: Entry['windows']): number {
  return windows.reduce(
    (sum, { id }) => sum + windowHeaderBytes + Buffer.byteLength(id, 'utf8'),
    headerBytes,
  )
}
