import { expect, test } from 'vitest'
import { ambiguityOf } from './ambiguity.ts'

function problemOf(text: string): string | undefined {
  return ambiguityOf(text, JSON.parse(text))
}

const call = (params: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`

test.each([
  ['twice in params', call('{"name":"paid","name":"free"}')],
  ['twice with an escape', call('{"n\\u0061me":"paid","name":"free"}')],
  ['twice in the message', '{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping"}'],
  ['twice in arguments', call('{"name":"a","arguments":{"q":1,"q":2}}')],
  ['twice in an item of a batch', `[${call('{"name":"a","name":"b"}')}]`],
])('finds a member that occurs %s', (_title, text) => {
  expect(problemOf(text)).toBe('The body has the same member twice.')
})

test.each([
  call('{"name":"free","Name":"paid"}'),
  '{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/call"}',
  '{"jsonrpc":"2.0","id":1,"result":{},"Method":"tools/call"}',
  '{"jsonrpc":"2.0","id":1,"method":"ping","param\u017f":{}}',
  `[${call('{"name":"free","n\uff41me":"paid"}')}]`,
])('finds a member that resembles a known one: %s', (text) => {
  expect(problemOf(text)).toMatch(/must be written in its own case/)
})

test('finds values that are nested too deeply, and no others', () => {
  const nested = (levels: number): string =>
    call(`{"name":"a","arguments":{"q":${'['.repeat(levels)}${']'.repeat(levels)}}}`)
  expect(problemOf(nested(125))).toBeUndefined()
  expect(problemOf(nested(126))).toMatch(/deeper than 128/)
  expect(problemOf(nested(500_000))).toMatch(/deeper than 128/)
})

test('accepts any names in arguments, and text that resembles JSON', () => {
  const given = { Name: 1, name: 2, text: '{"a":1,"a":\\"', deep: [{ a: 1 }, { a: 2 }], '': '\\' }
  expect(problemOf(call(JSON.stringify({ name: 'a', arguments: given, other: 1 })))).toBeUndefined()
})
