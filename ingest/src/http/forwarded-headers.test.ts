import { describe, expect, it } from 'vitest'
import { requestHeaders } from './forwarded-headers.ts'
import type { FallbackRequest } from './http-front.ts'

const requestWith = (headers: FallbackRequest['headers']): FallbackRequest => ({
  method: 'GET',
  target: '/',
  headers,
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

describe('headers that go on to the control plane', () => {
  it('say who called as we saw it', () => {
    expect(pairsOf(requestHeaders(requestWith(spoofed), false))).toEqual({
      'x-forwarded-for': '10.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'api.example.com',
    })
  })

  it('say what the proxy in front of us says, when it is trusted', () => {
    expect(pairsOf(requestHeaders(requestWith(spoofed), true))).toEqual({
      'x-forwarded-for': '6.6.6.6, 10.0.0.1',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'front.example.com',
    })
  })

  it('leave out what a Connection header names', () => {
    const flat = requestHeaders(
      requestWith([
        ['connection', 'close, X-Secret'],
        ['x-secret', '1'],
        ['accept', '*/*'],
      ]),
      false,
    )
    expect(flat.slice(0, 2)).toEqual(['accept', '*/*'])
    expect(flat).not.toContain('x-secret')
  })
})
