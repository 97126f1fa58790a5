import fc from 'fast-check'
import { expect, it } from 'vitest'
import { hotKey, keyAfter, readTimePart, textPart, textPartBytes, timePart } from './hot-keys.ts'

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ minLength: 100, maxLength: 400 }),
)

it('creates different keys for different texts, within the limit of lmdb', () => {
  const texts = fc.tuple(text, text, text)
  fc.assert(
    fc.property(texts, texts, (some, others) => {
      const [a, b] = [some, others].map((parts) => hotKey(9, ...parts.map(textPart))) as [
        Buffer,
        Buffer,
      ]
      expect(a.length).toBeLessThan(1978)
      expect(a.equals(b)).toBe(some.every((part, n) => part === others[n]))
    }),
  )
})

it('finds the end of a part', () => {
  fc.assert(
    fc.property(text, text, (first, second) => {
      const key = hotKey(1, textPart(first), textPart(second))
      expect(1 + textPartBytes(key, 1)).toBe(1 + textPart(first).length)
    }),
  )
})

it('sorts times, including those before 1970', () => {
  const time = fc.integer({ min: -(2 ** 45), max: 2 ** 45 })
  fc.assert(
    fc.property(time, time, (a, b) => {
      expect(Math.sign(timePart(a).compare(timePart(b)))).toBe(Math.sign(a - b))
      expect(readTimePart(timePart(a), 0)).toBe(a)
    }),
  )
})

it('ends a range after every key with the prefix', () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 4 }).filter((each) => each[0] !== 255)
  fc.assert(
    fc.property(bytes, fc.uint8Array({ maxLength: 4 }), (prefix, rest) => {
      const key = Buffer.concat([prefix, rest])
      expect(key.compare(keyAfter(Buffer.from(prefix)))).toBe(-1)
    }),
  )
  expect(keyAfter(Buffer.of(1, 255, 255))).toEqual(Buffer.of(2))
})
