import { expect, test } from 'vitest'
import { withId } from './with-id.ts'

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
