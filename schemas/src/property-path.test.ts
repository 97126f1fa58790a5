import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPointer, isProperty, pathOfProperty, valueAt } from './property-path.ts'

describe('properties of events', () => {
  // Examples of RFC 6901.
  const document = {
    foo: ['bar', 'baz'],
    '': 0,
    'a/b': 1,
    'c%d': 2,
    'm~n': 8,
    ' ': 7,
  }
  it.each([
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/m~0n', 8],
    ['/ ', 7],
    ['foo', ['bar', 'baz']],
    ['a/b', 1],
    ['/foo/2', undefined],
    ['/foo/-', undefined],
    ['/foo/00', undefined],
    ['/foo/bar', undefined],
    ['/a/b', undefined],
    ['valueOf', undefined],
    ['/foo/length', undefined],
  ])('%s is found as in RFC 6901', (property, value) => {
    expect(valueAt(document, pathOfProperty(property))).toEqual(value)
  })

  it.each(['', '/a~', '/a~2', '/~'])('%s is no property', (text) => {
    expect([isProperty(text), isPointer(text)]).toEqual([false, false])
  })

  it('every name is found by its escaped pointer', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 40 }),
        fc.string({ maxLength: 20 }),
        (one, other) => {
          const escaped = [one, other].map((name) =>
            name.replaceAll('~', '~0').replaceAll('/', '~1'),
          )
          const pointer = `/${escaped.join('/')}`
          expect(isPointer(pointer)).toBe(true)
          const object = Object.fromEntries([[one, Object.fromEntries([[other, 'found']])]])
          expect(valueAt(object, pathOfProperty(pointer))).toBe('found')
        },
      ),
    )
  })
})
