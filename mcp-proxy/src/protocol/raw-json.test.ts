import { expect, test } from 'vitest'
import { canonicalOf, itemsOf, membersOf, objectOf, rewritten, withId } from './raw-json.ts'

const big = '9007199254740993'

test('splits arrays and objects into texts that keep the digits of their numbers', () => {
  expect(itemsOf(` [ ${big} ,-1.50e+3,"a]\\"," , [1,{"b":"]"}],{ } , null\n] `)).toEqual([
    ...[big, '-1.50e+3', '"a]\\","', '[1,{"b":"]"}]', '{ }', 'null'],
  ])
  expect(itemsOf(' [ ] ')).toEqual([])
  const members = membersOf(`\t{ "a" : ${big} , "b\\u0063" : {"d":[${big}]},"__proto__":true }`)
  expect([...members]).toEqual([
    ['a', big],
    ['bc', `{"d":[${big}]}`],
    ['__proto__', 'true'],
  ])
  expect(objectOf(members)).toBe(`{"a":${big},"bc":{"d":[${big}]},"__proto__":true}`)
  expect(membersOf('{}').size).toBe(0)
})

const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

test('splits values that are nested deeper than the call stack', () => {
  expect(membersOf(`{"a":${deep(200_000)},"b":1}`).get('b')).toBe('1')
})

test.each([
  ['order of members', '{"a":1,"b":{"c":2,"d":3}}', '{ "b" : {"d":3,"c":2}, "a":1 }'],
  ['escapes', '{"a":"\\u00e4\\/"}', '{"\\u0061":"ä/"}'],
])('ignores %s in the canonical text', (_title, one, other) => {
  expect(canonicalOf(other)).toBe(canonicalOf(one))
})

test('keeps every other difference in the canonical text', () => {
  const values = [
    ...[big, '9007199254740992', '1', '"1"', '[1]', '[[1]]', '[1,1]', '{"1":1}', '{"1":"1"}'],
    ...['[]', '{}', '[{}]', '[[]]', 'null', '"null"', 'true', '""', '[1,[2]]', '[[1],2]'],
    ...['{"a":1,"b":2}', '{"a":2,"b":1}', '[["a",1],["b",2]]', '{"a":{"b":2}}', '{"__proto__":1}'],
    ...['"a,b"', '["a","b"]', '["a,b"]', '"\\ud800"', '"\\udfff"', '1e400', '-0', '0'],
  ]
  expect(new Set(values.map(canonicalOf)).size).toBe(values.length)
})

test.each<[title: string, edit: (before: never) => unknown, text: string]>([
  [
    'a member that was added',
    (before: object) => ({ ...before, c: 1 }),
    `{"a":[${big}],"b":{"x":${big}},"c":1}`,
  ],
  [
    'a member that was replaced',
    (before: object) => ({ ...before, a: 1 }),
    `{"a":1,"b":{"x":${big}}}`,
  ],
  ['a member that was removed', ({ a }: { a: unknown }) => ({ a, b: undefined }), `{"a":[${big}]}`],
  [
    'a member inside',
    ({ a, b }: { a: unknown; b: object }) => ({ a, b: { ...b, y: 2 } }),
    `{"a":[${big}],"b":{"x":${big},"y":2}}`,
  ],
  ['a value of another kind', ({ b }: { b: unknown }) => [b], `[{"x":9007199254740992}]`],
])('rewrites %s and keeps the text of the rest', (_title, edit, expected) => {
  const text = `{"a":[${big}],"b":{"x":${big}}}`
  const before = JSON.parse(text) as never
  expect(rewritten(text, before, edit(before))).toBe(expected)
  expect(rewritten(text, before, before)).toBe(text)
})

test('rewrites lists with removed, changed and added items', () => {
  const text = `[{"n":1,"x":${big}},{"n":2,"x":${big}},{"n":3,"x":${big}}]`
  const [first, second, third] = JSON.parse(text) as [object, object, object]
  const before = [first, second, third]
  expect(rewritten(text, before, [second, third, { n: 4 }])).toBe(
    `[{"n":2,"x":${big}},{"n":3,"x":${big}},{"n":4}]`,
  )
  expect(rewritten(text, before, [first, { ...second, n: 5 }])).toBe(
    `[{"n":1,"x":${big}},{"n":5,"x":${big}}]`,
  )
})

test.each([
  ['{"id":7}', '{"id":"new"}'],
  ['{"jsonrpc":"2.0","id" : -7.5e3 ,"method":"a"}', '{"jsonrpc":"2.0","id":"new","method":"a"}'],
  ['{"a":"id","id":\n"x\\"}","b":1}', '{"a":"id","id":"new","b":1}'],
  ['{"\\u0069d":7}', '{"id":"new"}'],
  [
    '{"params":{"id":1,"n":12345678901234567890},"id":1}',
    '{"params":{"id":1,"n":12345678901234567890},"id":"new"}',
  ],
  ['{"params":[{"id":1}],"id":"1"}', '{"params":[{"id":1}],"id":"new"}'],
  // The last of equal names counts, as it does in JSON.parse.
  ['{"id":1,"x":"\\"id\\":2","id":2}', '{"id":"new","x":"\\"id\\":2"}'],
])('replaces only the message id of %s', (text, expected) => {
  expect(withId(text, 'new')).toBe(expected)
})
