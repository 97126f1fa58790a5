import { proxyAddressOf } from '@tollgate/domain/mcp/proxy-address'
import { expect, test } from 'vitest'
import { resourceOf, subdomainOf } from './issuers.ts'

const byHost = 'https://{subdomain}.mcp.example.com/mcp'
const byPath = 'https://tools.example.com/mcp/{subdomain}'

test.each([
  [byHost, 'https://acme.mcp.example.com/mcp', true],
  [byHost, 'https://acme.mcp.example.com/mcp/', true],
  [byHost, 'https://acme.mcp.example.com', true],
  [byHost, 'https://acme.mcp.example.com/', true],
  [byHost, 'HTTPS://ACME.mcp.Example.com:443/mcp', true],
  [byHost, 'https://acme.mcp.example.com:8443/mcp', false],
  [byHost, 'http://acme.mcp.example.com/mcp', false],
  [byHost, 'https://acme.mcp.example.com./mcp', false],
  [byHost, 'https://other.mcp.example.com/mcp', false],
  [byHost, 'https://mcp.example.com/mcp', false],
  [byHost, 'https://acme.mcp.example.com/mcp/more', false],
  [byHost, 'https://acme.mcp.example.com/mcp?a=b', false],
  [byHost, 'https://acme.mcp.example.com/mcp#part', false],
  [byHost, 'https://ada@acme.mcp.example.com/mcp', false],
  [byHost, 'https://acmé.mcp.example.com/mcp', false],
  [byHost, 'acme.mcp.example.com', false],
  [byPath, 'https://tools.example.com/mcp/acme', true],
  [byPath, 'https://tools.example.com/mcp/acme/', true],
  [byPath, 'https://tools.example.com/mcp/../mcp/acme', true],
  // All servers share this origin, so the origin alone names no server.
  [byPath, 'https://tools.example.com', false],
  [byPath, 'https://tools.example.com/', false],
  [byPath, 'https://tools.example.com/mcp', false],
  [byPath, 'https://tools.example.com/mcp/other', false],
  [byPath, 'https://tools.example.com/mcp/ACME', false],
])('finds the server by the template %s and the resource %s: %s', (template, resource, isNamed) => {
  const address = proxyAddressOf(template, 'acme')
  expect(resourceOf(address, resource)).toBe(isNamed ? address.proxyUrl : undefined)
  const found = subdomainOf(template, resource)
  if (isNamed) expect(found).toBe('acme')
  else expect(found).not.toBe('acme')
})
