import type { Entry } from '../hot-state.ts'

/*
 * What the scripts need to know of an entry, as Lua's struct library reads it: the version (f64), whether the entry is
 * published (u8: 1, and 2 more while a publication is not finished), then per window from and to (f64), whether it is listed (u8), the id's bytes (u32) and the id. All
 * little-endian. Times are doubles because that is what both languages compute them with.
 */
const headerBytes = 9
const windowHeaderBytes = 21
const yes = 1

/** Windows that the scripts keep with the version; the others stand in a value of their own (scripts/windows.ts). */
export const firstWindowsMax = 3

/** The windows of an entry that is published now. */
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

/** Where in the packed windows those begin that are kept apart. */
export function laterWindowsAt({ windows }: Entry): number {
  return bytesOf(windows.slice(0, firstWindowsMax))
}

/** When the first window ends, as the scripts sort entries by it; empty without windows. */
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
