import { describe, expect, it } from 'vitest'
import { ingestSettings } from '../config.ts'
import { requestHeaders } from './forwarded-headers.ts'
import type { FallbackRequest } from './http-front.ts'
import { isTrusted, parseTrustedProxies } from '@tollgate/platform/service/trusted-proxies'

const requestWith = (headers: FallbackRequest['headers']): FallbackRequest => ({
  method: 'GET',
  target: '/',
  headers,
  requestId: 'req_1',
  body: new Uint8Array(0),
  remoteAddress: '10.0.0.1',
  signal: new AbortController().signal,
})

const pairsOf = (flat: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: flat.length / 2 }, (_, index) => [flat[index * 2], flat[index * 2 + 1]]),
  ) as Record<string, string>

const spoofed: FallbackRequest['headers'] = [
  ['host', 'api.example.com'],
  ['x-forwarded-for', '6.6.6.6'],
  ['x-forwarded-proto', 'https'],
  ['x-forwarded-host', 'front.example.com'],
]

const proxies = parseTrustedProxies('10.0.0.0/8')
const noProxies = parseTrustedProxies('')

describe('headers that are forwarded to the control plane', () => {
  it('contain the address of an untrusted peer, and report it', () => {
    const ignored: string[] = []
    const flat = requestHeaders(requestWith(spoofed), noProxies, (peer) => ignored.push(peer))
    expect(pairsOf(flat)).toEqual({
      'x-request-id': 'req_1',
      'x-forwarded-for': '10.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'api.example.com',
      'x-forwarded-ignored': 'yes',
    })
    expect(ignored).toEqual(['10.0.0.1'])
  })

  it('contain the client of a trusted proxy', () => {
    const ignored: string[] = []
    const flat = requestHeaders(requestWith(spoofed), proxies, (peer) => ignored.push(peer))
    expect(pairsOf(flat)).toEqual({
      'x-request-id': 'req_1',
      'x-forwarded-for': '6.6.6.6',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'front.example.com',
    })
    expect(ignored).toEqual([])
  })

  it.each([
    ['an address that the client wrote is ignored', ['1.1.1.1, 6.6.6.6'], '6.6.6.6'],
    ['a chain of proxies is followed', ['1.1.1.1, 6.6.6.6, 10.9.9.9, 10.0.0.2'], '6.6.6.6'],
    ['header lines count in their order', ['1.1.1.1', '6.6.6.6', '10.9.9.9'], '6.6.6.6'],
    [
      'a client within the trusted networks is the left-most address',
      ['10.0.0.7, 10.9.9.9'],
      '10.0.0.7',
    ],
    ['a port is removed', ['6.6.6.6:4711'], '6.6.6.6'],
    ['the port of an IPv6 address is removed', ['[2001:db8::1]:4711'], '2001:db8::1'],
    ['text that is not an address ends the chain', ['6.6.6.6, unknown, 10.9.9.9'], '10.9.9.9'],
    ['an empty header contains no address', [''], '10.0.0.1'],
  ])('finds the right-most address that is not a trusted proxy: %s', (_, lines, client) => {
    const headers = lines.map((line): [string, string] => ['x-forwarded-for', line])
    const flat = requestHeaders(requestWith(headers), proxies, () => undefined)
    expect(pairsOf(flat)['x-forwarded-for']).toBe(client)
  })

  it('omit the headers that a Connection header names', () => {
    const headers: FallbackRequest['headers'] = [
      ['connection', 'close, X-Secret'],
      ['x-secret', '1'],
      ['accept', '*/*'],
    ]
    const flat = requestHeaders(requestWith(headers), noProxies, () => undefined)
    expect(flat.slice(0, 2)).toEqual(['accept', '*/*'])
    expect(flat).not.toContain('x-secret')
  })
})

describe('the setting of trusted proxies', () => {
  it('accepts addresses, networks and names of both address families', () => {
    const trusted = parseTrustedProxies('loopback, 192.0.2.7,2001:db8::/32')
    const addresses = ['127.0.0.1', '::1', '::ffff:127.0.0.1', '192.0.2.7', '2001:db8:5::1']
    expect(addresses.filter((address) => !isTrusted(trusted, address))).toEqual([])
    expect(isTrusted(trusted, '192.0.2.8')).toBe(false)
    expect(isTrusted(trusted, '0000:0000:0000:0000:0000:0000:0000:0001')).toBe(true)
    expect(isTrusted(trusted, 'not an address')).toBe(false)
  })

  it.each(['proxy.example.com', 'yes', '10.0.0.0/33'])('refuses %s', (text) => {
    expect(() => parseTrustedProxies(text)).toThrow(text)
  })
})

describe('the setting for which proxies are trusted', () => {
  it('names the replacement of TOLLGATE_TRUST_FORWARDED_HEADERS=yes, and accepts no', () => {
    const given = (text: string) => ingestSettings.trustForwardedHeaders.parse(text)
    expect(() => given('yes')).toThrow('TOLLGATE_TRUSTED_PROXIES')
    expect(given('no')).toBe('no')
  })
})
