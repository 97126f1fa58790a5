import { bucketFormName, type BucketSpec } from '../buckets.ts'
import type { Entry } from '../hot-state.ts'

/*
 * Format of an entry for the scripts, decoded with Lua's struct library, little-endian: version (f64), whether the entry is
 * published (u8: 1, plus 2 during an unfinished publication, plus 4 if it has bucket forms), the bucket forms after the length of
 * all of them (u32; scripts/bucket-forms.ts), then per window start and end (f64), whether it is listed (u8),
 * length of the id (u32) and the id. Times are doubles because both languages compute with them.
 */
const headerBytes = 9
const windowHeaderBytes = 21
const formHeaderBytes = 41
const yes = 1
const withForms = 4

/** Number of windows that are stored with the version; the others are in a separate value (scripts/windows.ts). */
export const firstWindowsMax = 3

/** Encodes the windows of an entry that is published now. */
export function packWindows({ version, windows, buckets = [] }: Entry): Buffer {
  const forms = packForms(buckets)
  const bytes = Buffer.allocUnsafe(forms.length + bytesOf(windows))
  bytes.writeDoubleLE(version, 0)
  bytes[8] = yes + (forms.length > 0 ? withForms : 0)
  bytes.set(forms, headerBytes)
  let at = headerBytes + forms.length
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
export function laterWindowsAt({ windows, buckets = [] }: Entry): number {
  return packForms(buckets).length + bytesOf(windows.slice(0, firstWindowsMax))
}

/** Returns the end of the window that ends first, by which the scripts sort entries; empty without windows. */
export function firstEndText({ windows }: Entry): string {
  if (windows.length === 0) return ''
  return Math.min(...windows.map(({ toSecond }) => toSecond)).toString()
}

/** Encodes the forms of the specs as filled and listed, after the length of all of them; nothing without specs. */
function packForms(specs: readonly BucketSpec[]): Buffer {
  if (specs.length === 0) return Buffer.alloc(0)
  const forms = new Map<string, BucketSpec[]>()
  for (const spec of specs) {
    const name = bucketFormName(spec)
    forms.set(name, [...(forms.get(name) ?? []), spec])
  }
  const packed = Buffer.concat([...forms.values()].map(packForm))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(packed.length)
  return Buffer.concat([length, packed])
}

function packForm(specs: readonly BucketSpec[]): Buffer {
  const [{ seconds, offsetSeconds, kept }] = specs as [BucketSpec]
  const form = Buffer.alloc(formHeaderBytes)
  const [filledTo, withdrawnAt] = [Infinity, 0]
  for (const [index, value] of [seconds, offsetSeconds, kept, filledTo, withdrawnAt].entries()) {
    form.writeDoubleLE(value, index * 8)
  }
  form[formHeaderBytes - 1] = specs.length
  const ids = specs.map(({ id }) => {
    const idLength = Buffer.alloc(4)
    idLength.writeUInt32LE(Buffer.byteLength(id, 'utf8'))
    return Buffer.concat([idLength, Buffer.from(id, 'utf8')])
  })
  return Buffer.concat([form, ...ids])
}

function bytesOf(windows: Entry['windows']): number {
  return windows.reduce(
    (sum, { id }) => sum + windowHeaderBytes + Buffer.byteLength(id, 'utf8'),
    headerBytes,
  )
}
