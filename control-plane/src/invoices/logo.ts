import { inflateSync } from 'node:zlib'
import type { Asset } from '@tollgate/domain/merchants/assets'

/** Decoding a picture with transparency takes time for each pixel, on the thread that answers requests. */
const pixelsMax = 1_000_000

/**
 * Returns the logo's bytes if a PDF can hold them, which are a JPEG or a PNG that is not interlaced. The PNG is read
 * whole first: pdfkit decodes it later, where a damaged one would end the process.
 */
export function drawableLogo(asset: Asset | undefined): Buffer | null {
  if (asset === undefined) return null
  if (asset.contentType === 'image/jpeg') return asset.bytes
  return asset.contentType === 'image/png' && isWholePng(asset.bytes) ? asset.bytes : null
}

/** Samples of each pixel, and the bits that a sample may have, by colour type. */
const pngColors = new Map<number, { readonly samples: number; readonly bits: readonly number[] }>([
  [0, { samples: 1, bits: [1, 2, 4, 8, 16] }],
  [2, { samples: 3, bits: [8, 16] }],
  [3, { samples: 1, bits: [1, 2, 4, 8] }],
  [4, { samples: 2, bits: [8, 16] }],
  [6, { samples: 4, bits: [8, 16] }],
])

function isWholePng(png: Buffer): boolean {
  const chunks = chunksOf(png)
  const header = chunks?.find(({ type }) => type === 'IHDR')?.data
  if (chunks === undefined || header?.length !== 13) return false
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const [bits, colorType, , , interlace] = header.subarray(8)
  const color = pngColors.get(colorType!)
  if (color === undefined || !color.bits.includes(bits!) || interlace !== 0) return false
  if (width === 0 || height === 0 || width * height > pixelsMax) return false
  if (colorType === 3 && !chunks.some(({ type }) => type === 'PLTE')) return false
  const rowBytes = 1 + Math.ceil((width * bits! * color.samples) / 8)
  const pixels = chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)
  return hasRows(Buffer.concat(pixels), rowBytes, height)
}

/** Whether the data inflates to that many rows, each with one of the five filters. */
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

type Chunk = { readonly type: string; readonly data: Buffer }

/** Undefined if the chunks do not end where the file says. */
function chunksOf(png: Buffer): Chunk[] | undefined {
  const chunks: Chunk[] = []
  for (let at = 8; at + 12 <= png.length;) {
    const length = png.readUInt32BE(at)
    const end = at + 12 + length
    const type = png.toString('latin1', at + 4, at + 8)
    if (end > png.length) return undefined
    chunks.push({ type, data: png.subarray(at + 8, at + 8 + length) })
    if (type === 'IEND') return chunks
    at = end
  }
  return undefined
}
