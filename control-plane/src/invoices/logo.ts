import { inflateSync } from 'node:zlib'
import type { Asset } from '@tollgate/domain/merchants/assets'

/**
 * Maximum number of pixels. Decoding a picture with transparency takes time for each pixel, on the thread that answers requests.
 */
const pixelsMax = 1_000_000

/**
 * Returns the bytes of the logo if a PDF can contain it: a JPEG, or a PNG that is not interlaced. A PNG is read completely and
 * rebuilt from the checked chunks, because pdfkit decodes it later, in a callback whose error ends the process, and uses the last
 * of several headers.
 */
export function drawableLogo(asset: Asset | undefined): Buffer | null {
  if (asset === undefined) return null
  if (asset.contentType === 'image/jpeg') return asset.bytes
  return asset.contentType === 'image/png' ? validPng(asset.bytes) : null
}

/** Number of samples in each pixel, and allowed bits of a sample, by color type. */
const pngColors = new Map<number, { readonly samples: number; readonly bits: readonly number[] }>([
  [0, { samples: 1, bits: [1, 2, 4, 8, 16] }],
  [2, { samples: 3, bits: [8, 16] }],
  [3, { samples: 1, bits: [1, 2, 4, 8] }],
  [4, { samples: 2, bits: [8, 16] }],
  [6, { samples: 4, bits: [8, 16] }],
])
const palette = 3

function validPng(png: Buffer): Buffer | null {
  const chunks = chunksOf(png)
  const header = chunks?.[0]
  if (chunks === undefined || header?.type !== 'IHDR' || header.data.length !== 13) return null
  const [width, height] = [header.data.readUInt32BE(0), header.data.readUInt32BE(4)]
  const [bits, colorType, compression, filter, interlace] = header.data.subarray(8)
  const color = pngColors.get(colorType!)
  if (color === undefined || !color.bits.includes(bits!)) return null
  if (compression !== 0 || filter !== 0 || interlace !== 0) return null
  if (width === 0 || height === 0 || width * height > pixelsMax) return null
  if (!areInOrder(chunks) || (colorType === palette && !hasPalette(chunks))) return null
  const rowBytes = 1 + Math.ceil((width * bits! * color.samples) / 8)
  const pixels = chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)
  if (!hasRows(Buffer.concat(pixels), rowBytes, height)) return null
  // pdfkit would use a palette as the colors of the picture, and it reads transparency correctly only if each byte is the color of
  // one pixel.
  const drawn = ['IHDR', 'IDAT', 'IEND']
  if (colorType === palette) drawn.push('PLTE', ...(bits === 8 ? ['tRNS'] : []))
  const kept = chunks.filter(({ type }) => drawn.includes(type))
  return Buffer.concat([png.subarray(0, 8), ...kept.map(({ whole }) => whole)])
}

/** Returns whether there is one header and one end, and at most one palette and one transparency chunk, both before the pixels. */
function areInOrder(chunks: readonly Chunk[]): boolean {
  const types = chunks.map(({ type }) => type)
  const isOnce = (type: string): boolean => types.indexOf(type) === types.lastIndexOf(type)
  return (
    ['IHDR', 'PLTE', 'tRNS'].every(isOnce) &&
    Math.max(types.indexOf('PLTE'), types.indexOf('tRNS')) < types.indexOf('IDAT')
  )
}

/** Returns whether the palette contains complete colors, and the transparency chunk has at most one entry for each color. */
function hasPalette(chunks: readonly Chunk[]): boolean {
  const bytesOf = (kind: string): number =>
    chunks.find(({ type }) => type === kind)?.data.length ?? 0
  const colors = bytesOf('PLTE') / 3
  return Number.isInteger(colors) && colors > 0 && colors <= 256 && bytesOf('tRNS') <= colors
}

/** Returns whether the data inflates to exactly `rows` rows of `rowBytes` bytes, each with one of the 5 filters. */
function hasRows(deflated: Buffer, rowBytes: number, rows: number): boolean {
  try {
    const inflated = inflateSync(deflated, { maxOutputLength: rowBytes * rows })
    if (inflated.length !== rowBytes * rows) return false
    return Array.from({ length: rows }, (_, row) => inflated[row * rowBytes]!).every(
      (filter) => filter <= 4,
    )
  } catch {
    return false
  }
}

type Chunk = {
  readonly type: string
  readonly data: Buffer
  /** The chunk with its length, type and checksum. */
  readonly whole: Buffer
}

/** Returns the chunks up to the end of the picture, or undefined if their lengths do not fit the file. */
function chunksOf(png: Buffer): Chunk[] | undefined {
  const chunks: Chunk[] = []
  for (let at = 8; at + 12 <= png.length;) {
    const length = png.readUInt32BE(at)
    const end = at + 12 + length
    const type = png.toString('latin1', at + 4, at + 8)
    if (end > png.length) return undefined
    chunks.push({ type, data: png.subarray(at + 8, end - 4), whole: png.subarray(at, end) })
    if (type === 'IEND') return chunks
    at = end
  }
  return undefined
}
