import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { faultOfJsonObject, isStorableText } from './json-object.ts'
import { jsonObjectBytesMax } from './limits.ts'

function nested(levels: number, leaf: unknown = 1): unknown {
  let value = leaf
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? { a: value } : [value]
  return { a: value }
}

const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, index]))

/** Returns an object whose JSON text has exactly `bytes` bytes. */
const sized = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })

describe('faultOfJsonObject', () => {
  it.each<[string, unknown]>([
    ['empty', {}],
    ['all kinds', { a: null, b: [1, 'x', false, {}], c: { d: -1.5e-9 } }],
    ['eight levels', nested(7)],
    ['64 keys', keys(64)],
    ['16 KiB', sized(jsonObjectBytesMax)],
    ['a pair of surrogates', { a: '\ud83d\ude00' }],
    ['harmless look-alikes', { proto: 1, Constructor: 2, toString: 3 }],
  ])('accepts %s', (_name, value) => {
    expect(faultOfJsonObject(value)).toBeUndefined()
  })

  it.each<[string, unknown, RegExp]>([
    ['null', null, /object/],
    ['an array', [], /object/],
    ['text', '{}', /object/],
    ['nine levels', nested(8), /levels/],
    [
      'nine levels of arrays',
      { a: JSON.parse('['.repeat(8) + ']'.repeat(8)) as unknown },
      /levels/,
    ],
    ['65 keys', keys(65), /keys/],
    ['a byte more than 16 KiB', sized(jsonObjectBytesMax + 1), /bytes/],
    ['many bytes per character', { a: '\u0001'.repeat(3000) }, /bytes/],
    ['a lone surrogate', { a: ['\udc00'] }, /Unicode/],
    ['a lone surrogate in a key', { '\ud800': 1 }, /Unicode/],
    ['U+0000', { a: 'x\0' }, /Unicode/],
    ['__proto__', JSON.parse('{"a":{"__proto__":1}}'), /__proto__/],
    ['constructor', { constructor: 1 }, /constructor/],
    ['prototype', { a: [{ prototype: 1 }] }, /prototype/],
    ['infinity', JSON.parse('{"a":1e999}'), /finite/],
    ['a value that JSON cannot represent', { a: 1n }, /JSON/],
  ])('refuses %s', (_name, value, fault) => {
    expect(faultOfJsonObject(value)).toMatch(fault)
  })

  it('handles any nesting that a body can have', () => {
    const deep = JSON.parse(`{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`) as unknown
    expect(faultOfJsonObject(deep)).toMatch(/levels/)
  })

  it('measures the encoded bytes, whatever its estimate', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'é', '😀', '"', '\u0001'),
      minLength: 2500,
      maxLength: 9000,
    })
    fc.assert(
      fc.property(text, (value) => {
        const isLarge = Buffer.byteLength(JSON.stringify({ value })) > jsonObjectBytesMax
        expect(faultOfJsonObject({ value }) !== undefined).toBe(isLarge)
      }),
      { numRuns: 200 },
    )
  })
})

describe('isStorableText', () => {
  it('accepts text that UTF-8 and PostgreSQL can store', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '\0', '\ud800', '\udc00', 'é') }),
        (text) => {
          const survives =
            Buffer.from(text, 'utf8').toString('utf8') === text && !text.includes('\0')
          expect(isStorableText(text)).toBe(survives)
        },
      ),
    )
  })
})
