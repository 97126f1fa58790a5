import { expect, test } from 'vitest'
import { parseAllowList } from './allow-list.ts'
import { judgeUrl } from './judge-url.ts'

const strict = { allowed: parseAllowList(''), ports: [443, 8443], isPlainHttpAllowed: true }

const lenient = {
  ...strict,
  allowed: parseAllowList('localhost, mcp.internal, 10.1.0.0/16, fd00::/8, 192.168.1.5'),
}

test.each([
  'https://mcp.example.com/mcp',
  'https://mcp.example.com:8443/mcp?a=b',
  'https://8.8.8.8/',
  'https://[2606:4700:4700::1111]/',
])('accepts %s', (url) => {
  expect(judgeUrl(url, strict)).toEqual({ kind: 'accepted', url: new URL(url) })
})

test.each([
  ['mcp.example.com', 'is not a URL'],
  ['', 'is not a URL'],
  ['http://mcp.example.com/', 'must begin with https://'],
  ['https:mcp.example.com', 'must begin with https://'],
  ['https:\\\\mcp.example.com', 'must begin with https://'],
  [' https://mcp.example.com', 'must not contain spaces'],
  ['https://mcp.exa\nmple.com', 'must not contain spaces'],
  ['https://mcp.example.com/\0', 'must not contain spaces'],
  ['ftp://mcp.example.com/', 'must begin with https://'],
  ['file:///etc/passwd', 'must begin with https://'],
  ['https://user:pass@mcp.example.com/', 'must not contain credentials'],
  ['https://mcp.example.com@127.0.0.1/', 'must not contain credentials'],
  ['https://mcp.example.com:22/', 'must use port 443 or 8443'],
  ['https://localhost/', 'is not a public address'],
  ['https://LOCALHOST./', 'is not a public address'],
  ['https://db.localhost/', 'is not a public address'],
  ['https://printer.local/', 'is not a public address'],
  ['https://metadata.google.internal/', 'is not a public address'],
  ['https://router.home.arpa/', 'is not a public address'],
  ['https://127.0.0.1/', 'is not a public address'],
  ['https://127.1/', 'is not a public address'],
  ['https://2130706433/', 'is not a public address'],
  ['https://0x7f000001/', 'is not a public address'],
  ['https://0177.0.0.1/', 'is not a public address'],
  ['https://[::1]/', 'is not a public address'],
  ['https://[::ffff:127.0.0.1]/', 'is not a public address'],
])('refuses %s: it %s', (url, reason) => {
  expect(judgeUrl(url, strict)).toEqual({ kind: 'refused', reason })
})

test.each([
  'http://localhost:3000/mcp',
  'https://LOCALHOST/',
  'http://mcp.internal:22/',
  'http://10.1.255.1/',
  'http://[fd00::1]:3000/',
  'http://192.168.1.5:1/',
])('accepts %s if the operator allows it', (url) => {
  expect(judgeUrl(url, lenient).kind).toBe('accepted')
})

test.each([
  ['http://localhost:3000/', { ...lenient, isPlainHttpAllowed: false }],
  ['http://a.mcp.internal/', lenient],
  ['https://10.2.0.1/', lenient],
  ['https://192.168.1.6/', lenient],
])('refuses what an allow list does not cover: %s', (url, rules) => {
  expect(judgeUrl(url, rules).kind).toBe('refused')
})

test.each(['10.0.0.0/33', '10.0.0.0/x', 'https://a', 'a b', '10.0.0.0/-1'])(
  'throws for %j in an allow list',
  (text) => {
    expect(() => parseAllowList(text)).toThrow()
  },
)
