import { expect, test } from 'vitest'
import { hasOwnHost, proxyAddressOf } from './proxy-address.ts'

test('uses the host of a server as its issuer if each server has its own host', () => {
  const template = 'https://{subdomain}.mcp.example.com/mcp'
  expect(hasOwnHost(template)).toBe(true)
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

test('uses the path to distinguish servers and issuers on a shared host', () => {
  const template = 'http://127.0.0.1:8788/mcp/{subdomain}'
  expect(hasOwnHost(template)).toBe(false)
  expect(proxyAddressOf(template, 'acme')).toEqual({
    proxyUrl: 'http://127.0.0.1:8788/mcp/acme',
    issuer: 'http://127.0.0.1:8788/mcp/acme',
    resourceAliases: ['http://127.0.0.1:8788/mcp/acme/'],
  })
})
