import type { JsonObject } from '@tollgate/schemas/json-object'
import { expect, test } from 'vitest'
import { classify } from './classify.ts'

const version = '2026-07-28'
const meta = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': {},
}
const plain = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const modern = { ...plain, params: { _meta: meta } }
const headers = { 'mcp-protocol-version': version, 'mcp-method': 'tools/list' }
const notification = { jsonrpc: '2.0', method: 'notifications/initialized' }
const response = { jsonrpc: '2.0', id: 1, result: {} }

const withMeta = (changes: JsonObject) => ({ ...plain, params: { _meta: { ...meta, ...changes } } })

test.each<[string, unknown, Record<string, string>, string | number]>([
  ['a request without an envelope', plain, {}, 'sessions'],
  ['the same with an older version', plain, { 'mcp-protocol-version': '2025-06-18' }, 'sessions'],
  ['the same with the header of the newer version', plain, headers, -32_602],
  ['initialize', { ...plain, method: 'initialize' }, {}, 'sessions'],
  [
    'initialize with the header of the newer version',
    { ...plain, method: 'initialize' },
    headers,
    -32_020,
  ],
  ['a version that does not exist', plain, { 'mcp-protocol-version': '1' }, -32_000],
  ['a request with an envelope', modern, headers, 'stateless'],
  ['an envelope without headers', modern, {}, -32_020],
  [
    'an envelope with another version in the header',
    modern,
    { ...headers, 'mcp-protocol-version': '2025-11-25' },
    -32_020,
  ],
  ['another method in the header', modern, { ...headers, 'mcp-method': 'tools/call' }, -32_020],
  [
    'a version that is no text',
    withMeta({ 'io.modelcontextprotocol/protocolVersion': 1 }),
    headers,
    -32_602,
  ],
  [
    'no capabilities',
    withMeta({ 'io.modelcontextprotocol/clientCapabilities': undefined }),
    headers,
    -32_602,
  ],
  [
    'a newer version',
    withMeta({ 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }),
    { ...headers, 'mcp-protocol-version': '2099-01-01' },
    -32_022,
  ],
  ['a notification', notification, {}, 'sessions'],
  ['a notification of the newer version', notification, headers, 'dropped'],
  ['a response', response, {}, 'sessions'],
  ['a batch', [plain, notification], {}, 'sessions'],
  ['an empty batch', [], {}, -32_600],
  ['a batch with a request of the newer version', [plain, modern], {}, -32_600],
  ['a batch with initialize', [{ ...plain, method: 'initialize' }], {}, -32_600],
  ['a batch with something else', [plain, 1], {}, -32_600],
  ['a batch of too many', [plain, plain, plain, plain], {}, -32_600],
  ['an id that JavaScript rounds', { ...plain, id: 2 ** 53 }, {}, -32_600],
  ['the largest id that it does not', { ...plain, id: 2 ** 53 - 1 }, {}, 'sessions'],
  ['an id that servers cut off', { ...plain, id: 1.5 }, {}, -32_600],
  ['an id that has no UTF-8', { ...plain, id: '\ud800' }, {}, -32_600],
  ['an id that ends early in C', { ...plain, id: '1\0' }, {}, -32_600],
  ['a batch with an id that it rounds', [{ ...plain, id: -(2 ** 53) }], {}, -32_600],
  ['null', null, {}, -32_600],
  ['JSON-RPC of another version', { ...plain, jsonrpc: '1.0' }, {}, -32_600],
  ['a message that is neither', { jsonrpc: '2.0', id: 1 }, {}, -32_600],
])('%s', (_name, body, given, expected) => {
  const classified = classify(body, given, 3)
  if (typeof expected === 'string') return expect(classified.kind).toBe(expected)
  expect(classified).toMatchObject({
    kind: 'refused',
    status: 400,
    answer: { error: { code: expected } },
  })
})

const called = { ...modern, method: 'tools/call', params: { name: 'läser', _meta: meta } }
const encoded = `=?base64?${Buffer.from('läser').toString('base64')}?=`

test.each([
  [encoded, 'stateless'],
  ['läser', 'stateless'],
  ['=?base64?!?=', 'refused'],
  ['=?base64?/w==?=', 'refused'],
  ['laser', 'refused'],
])('classifies a call with the name %s in its header as %s', (name, kind) => {
  const given = { ...headers, 'mcp-method': 'tools/call', 'mcp-name': name }
  expect(classify(called, given, 3).kind).toBe(kind)
})

test('lists the supported versions for a client of an unknown version', () => {
  const body = withMeta({ 'io.modelcontextprotocol/protocolVersion': '2099-01-01' })
  const given = { ...headers, 'mcp-protocol-version': '2099-01-01' }
  expect(classify(body, given, 3)).toMatchObject({
    answer: { id: 1, error: { data: { supported: [version], requested: '2099-01-01' } } },
  })
})
