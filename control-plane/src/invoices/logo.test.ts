import { buffer } from 'node:stream/consumers'
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import PdfDocument from 'pdfkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { drawableLogo } from './logo.ts'

/* A logo comes from a provider, and pdfkit decodes it in a callback, where an error would end the process. */

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Returns a chunk of a PNG. Its checksum is 0, because pdfkit does not read checksums. */
function chunk(type: string, data = Buffer.alloc(0)): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  return Buffer.concat([length, Buffer.from(type, 'latin1'), data, Buffer.alloc(4)])
}

type Kind = { readonly colorType: number; readonly bits: number; readonly samples: number }

const kinds: readonly Kind[] = [
  { colorType: 0, bits: 1, samples: 1 },
  { colorType: 0, bits: 16, samples: 1 },
  { colorType: 2, bits: 8, samples: 3 },
  { colorType: 3, bits: 2, samples: 1 },
  { colorType: 3, bits: 8, samples: 1 },
  { colorType: 4, bits: 8, samples: 2 },
  { colorType: 6, bits: 8, samples: 4 },
  { colorType: 6, bits: 16, samples: 4 },
]

function header({ colorType, bits }: Kind, width: number, height: number): Buffer {
  const data = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, bits, colorType, 0, 0, 0])
  data.writeUInt32BE(width, 0)
  data.writeUInt32BE(height, 4)
  return chunk('IHDR', data)
}

const transparencies = new Map([
  [0, Buffer.alloc(2)],
  [2, Buffer.alloc(6)],
  [3, Buffer.from([0, 128])],
])

/** Returns a picture of 5 by 3 pixels, with its data in 2 chunks and the filters 0 to 2. */
function pngChunks(kind: Kind): Buffer[] {
  const rowBytes = 1 + Math.ceil((5 * kind.bits * kind.samples) / 8)
  const rows = Buffer.concat(
    [0, 1, 2].map((filter) => Buffer.alloc(rowBytes, 1).fill(filter, 0, 1)),
  )
  const deflated = deflateSync(rows)
  const transparency = transparencies.get(kind.colorType)
  return [
    header(kind, 5, 3),
    chunk('tEXt', Buffer.from('Software\0here')),
    ...(kind.colorType === 3 ? [chunk('PLTE', Buffer.alloc(12, 200))] : []),
    ...(transparency === undefined ? [] : [chunk('tRNS', transparency)]),
    chunk('IDAT', deflated.subarray(0, 4)),
    chunk('IDAT', deflated.subarray(4)),
    chunk('IEND'),
  ]
}

function pngOf(chunks: readonly Buffer[]): Buffer {
  return Buffer.concat([signature, ...chunks])
}

function draw(bytes: Buffer): Promise<Buffer> | undefined {
  const logo = drawableLogo({ contentType: 'image/png', bytes })
  if (logo === null) return undefined
  const doc = new PdfDocument()
  const pdf = buffer(doc)
  doc.image(logo, 0, 0)
  doc.end()
  return pdf
}

const uncaught: unknown[] = []
const note = (error: unknown): void => void uncaught.push(error)
const before = process.listeners('uncaughtException')

beforeAll(() => {
  process.removeAllListeners('uncaughtException').on('uncaughtException', note)
})
afterAll(() => {
  process.off('uncaughtException', note)
  for (const listener of before) process.on('uncaughtException', listener)
})

/** Expects that each picture is drawn. pdfkit never finishes a document whose picture fails, so the test sets a time limit. */
async function expectDrawn(pictures: readonly Buffer[]): Promise<number> {
  const drawn = pictures.map(draw).filter((pdf) => pdf !== undefined)
  const stuck = new Promise<string>((resolve) => setTimeout(resolve, 5_000, 'stuck').unref())
  const pdfs = await Promise.race([Promise.all(drawn), stuck])
  expect(uncaught).toEqual([])
  expect(pdfs).not.toBe('stuck')
  return drawn.length
}

test('draws an intact PNG of each color type', async () => {
  const pictures = kinds.map((kind) => pngOf(pngChunks(kind)))
  expect(await expectDrawn(pictures)).toBe(kinds.length)
})

test('refuses a second header, which pdfkit would use', async () => {
  const rgba = kinds.find(({ colorType, bits }) => colorType === 6 && bits === 8)!
  const pixel = chunk('IDAT', deflateSync(Buffer.alloc(5)))
  const forged = [header(rgba, 1, 1), pixel, header(rgba, 60_000, 60_000), chunk('IEND')]
  expect(await expectDrawn([pngOf(forged)])).toBe(0)
})

test('survives damaged PNGs', { timeout: 60_000 }, async () => {
  const byteChange = fc.tuple(fc.nat(400), fc.integer({ min: 0, max: 255 }))
  const chunkMove = fc.tuple(fc.constantFrom('copy', 'drop', 'swap'), fc.nat(9), fc.nat(9))
  const extra = fc.record({ at: fc.nat(9), of: fc.constantFrom(...kinds), width: fc.nat(70_000) })
  const damaged = fc
    .record({
      kind: fc.constantFrom(...kinds),
      moves: fc.array(chunkMove, { maxLength: 2 }),
      headers: fc.array(extra, { maxLength: 1 }),
      bytes: fc.array(byteChange, { maxLength: 3 }),
    })
    .map(({ kind, moves, headers, bytes }) => {
      const chunks = pngChunks(kind)
      for (const [move, one, other] of moves) {
        const [from, to] = [one % chunks.length, other % chunks.length]
        const [moved] = move === 'copy' ? [chunks[from]!] : chunks.splice(from, 1)
        if (move !== 'drop') chunks.splice(to, 0, moved!)
      }
      for (const { at, of, width } of headers) {
        chunks.splice(at % chunks.length, 0, header(of, width, width))
      }
      const png = pngOf(chunks)
      for (const [at, value] of bytes) png[8 + (at % (png.length - 8))] = value
      return png
    })
  const pictures = fc.sample(damaged, 3_000)
  expect(await expectDrawn(pictures)).toBeGreaterThan(100)
})
