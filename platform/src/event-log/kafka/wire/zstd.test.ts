import { beforeAll, describe, expect, it } from 'vitest'
import { decompressZstd, loadZstd } from './zstd.ts'

const text = Array.from(
  { length: 200 },
  (_, n) => `{"customer":"customer_${n % 7}","units":${n}}\n`,
).join('')

/** The text as a stream compresses it: the frame does not say how long it is, as with Java's clients. */
const compressed = Buffer.from(
  'KLUv/QBYpAEARAJ7ImN1c3RvbWVyIjpfMCIsInVuaXRzIjowfQp7MTEyIiwidW4FAAAIgO8oHvAsy0VJAgUMAOZYLxGgJckBf66qRtBoU1KS/y' +
    'vPFScALgAmAPSspq/bsquavmZJjmJ4miW5adnnddymZZdVUZMUXa4YLCjy2y05gGG0QEGCBw4aMFigIMGDQwPDgkLCg0MDY6FIPBwNxkKR/37P' +
    '73r++zU9y/Ft1wF2za5q+rotu6rhaZbkKIan2XGbln1ex21SdFkVNUm5nIZZlORxGoGAIBA1SdFlVdQkRZdVhQWFhAdHg7FQJB6OBmPX89/v+V' +
    '3Pb7umZzm+A4GLqCH8BrHnWR0RIAQ3ORH+RB8QtB2TbNcE2zW5dk2sXZNq14TaNZl2TaTdJtGuCbRr8uyaOLsmzQ4Mj3AIh+IIj3ASjuIIL+ES' +
    'juIQHuESHsURHsElHMURPsIlHIUjounPXUDQsoeiO/Te0DeG0i2UptC3hNJBKO2gb4tB4W1b227b3Xbbrrbbdrvdttvstt22t+22tW237W67bT' +
    'fbbX9dM53KuWY5LeOa4VS+Nbup5Nqa2bwdHDw4ODhYYAGOIg==',
  'base64',
)

/** The codec of Node where there is one, and otherwise the one in WebAssembly. */
describe('zstd, on any version of Node', () => {
  beforeAll(() => loadZstd())

  const decompress = (bytes: Buffer, bytesMax: number): string =>
    Buffer.from(decompressZstd(bytes, bytesMax, 4_096)).toString()

  it('decompresses what has exactly the maximum of bytes', () => {
    expect(decompress(compressed, text.length)).toBe(text)
    expect(decompress(compressed, 1_000_000)).toBe(text)
  })

  it('refuses more bytes than the maximum', () => {
    expect(() => decompress(compressed, text.length - 1)).toThrow(/arger than|have more than/)
  })

  it('refuses bytes of another format', () => {
    expect(() => decompress(Buffer.from('no frame'), 1_000_000)).toThrow()
  })
})
