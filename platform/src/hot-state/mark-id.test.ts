import fc from 'fast-check'
import { expect, it } from 'vitest'
import { writeMarkId } from './mark-id.ts'

function markIdOf(id: string): string {
  const bytes = Buffer.alloc(20, 170)
  writeMarkId(id, bytes, 2)
  expect([bytes[0], bytes[1], bytes[18], bytes[19]]).toEqual([170, 170, 170, 170])
  return bytes.toString('hex', 2, 18)
}

const base32 = fc
  .tuple(
    fc.constantFrom(...'01234567'),
    fc.string({
      unit: fc.constantFrom(...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'),
      minLength: 25,
      maxLength: 25,
    }),
  )
  .map(([first, rest]) => first + rest)
const anyText = fc.string({ unit: 'binary', maxLength: 40 })
const id = fc.oneof(
  anyText,
  base32,
  base32.map((text) => `usage_${text}`),
  fc.tuple(anyText, base32).map(([beginning, text]) => beginning + text),
)

it('is equal for the same id and differs for different ids, in any order', () => {
  fc.assert(
    fc.property(id, id, (one, other) => {
      const ofOne = markIdOf(one)
      expect(markIdOf(other) === ofOne).toBe(one === other)
      expect(markIdOf(one)).toBe(ofOne)
    }),
  )
})

it('differs if ids differ in one character', () => {
  const text = 'usage_7ZZZZZZZZZZZZZZZZZZZZZZZZZ'
  const changed = Array.from(text, (_, at) => `${text.slice(0, at)}0${text.slice(at + 1)}`)
  // Too many bits, characters that base32 does not have, and one that becomes a valid one if truncated to a byte.
  const others = ['usage_8', 'usage_I', 'usage_é', 'usage_\u0130'].map(
    (head) => head + text.slice(7),
  )
  const all = [text, ...changed, ...others, '', 'usage_']
  expect(new Set(all.map(markIdOf)).size).toBe(all.length)
})
