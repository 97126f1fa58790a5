import { expect, test } from 'vitest'
import { hasHostOfItsOwn, proxyAddressOf } from './proxy-address.ts'

test('a server with a host of its own is its own authorization server', () => {
  const template = 'https://{subdomain}.mcp.example.com/mcp'
  expect(hasHostOfItsOwn(template)).toBe(true)
  expect(proxyAddressOf(template, 'acme')).toEqual({
    proxyUrl: 'https://acme.mcp.example.com/mcp',
    issuer: 'https://acme.mcp.example.com',
    resourceAliases: [
      'https://acme.mcp.example.com/mcp/',
      'https://acme.mcp.example.com',
      'https://acme.mcp.example.com/',
    ],
  })
})

test('servers of one host are told apart by their path, also as issuers', () => {
  const template = 'http://127.0.0.1:8788/mcp/{subdomain}'
  expect(hasHostOfItsOwn(template)).toBe(false)
  expect(proxyAddressOf(template, 'acme')).toEqual({
    proxyUrl: 'http://127.0.0.1:8788/mcp/acme',
    issuer: 'http://127.0.0.1:8788/mcp/acme',
    resourceAliases: ['http://127.0.0.1:8788/mcp/acme/'],
  })
})
