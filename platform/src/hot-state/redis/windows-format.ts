import type { Entry } from '../hot-state.ts'

/*
 * What the scripts need to know of an entry, as Lua's struct library reads it: the version (f64), whether the entry is
 * published (u8), then per window from and to (f64), whether it is listed (u8), the id's bytes (u32) and the id. All
 * little-endian. Times are doubles because that is what both languages compute them with.
 */
const headerBytes = 9
const windowHeaderBytes = 21
const yes = 1

/** The windows of an entry that is published now. */
export function packWindows({ version, windows }: Entry): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.writeDoubleLE(version, 0)
  header[8] = yes
  const parts: Buffer[] = [header]
  for (const { id, fromSecond, toSecond } of windows) {
    const idBytes = Buffer.from(id, 'utf8')
    const windowHeader = Buffer.alloc(windowHeaderBytes)
    windowHeader.writeDoubleLE(fromSecond, 0)
    windowHeader.writeDoubleLE(toSecond, 8)
    windowHeader[16] = yes
    windowHeader.writeUInt32LE(idBytes.length, 17)
    parts.push(windowHeader, idBytes)
  }
  return Buffer.concat(parts)
}
