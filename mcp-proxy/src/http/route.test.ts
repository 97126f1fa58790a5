import { expect, test } from 'vitest'
import { createRouter } from './route.ts'

const byHost = createRouter({
  sandbox: 'https://{subdomain}.mcp.sandbox.example.com/mcp',
  live: 'https://{subdomain}.mcp.example.com/mcp',
})
const byPath = createRouter({
  sandbox: 'http://127.0.0.1:8788/sandbox/mcp/{subdomain}',
  live: 'http://127.0.0.1:8788/mcp/{subdomain}',
})

const metadata = { kind: 'resource-metadata' }
const authorization = (path: string) => ({ kind: 'authorization', path })
const server = authorization('/.well-known/oauth-authorization-server')

test.each([
  ['acme.mcp.example.com', '/mcp', 'live', { kind: 'mcp' }],
  ['ACME.mcp.example.com', '/mcp/', 'live', { kind: 'mcp' }],
  ['acme.mcp.example.com:443', '/mcp', 'live', { kind: 'mcp' }],
  ['acme.mcp.sandbox.example.com', '/mcp?a=b', 'sandbox', { kind: 'mcp' }],
  ['acme.mcp.example.com', '/.well-known/oauth-protected-resource', 'live', metadata],
  ['acme.mcp.example.com', '/.well-known/oauth-protected-resource/mcp', 'live', metadata],
  ['acme.mcp.example.com', '/.well-known/oauth-authorization-server', 'live', server],
  ['acme.mcp.example.com', '/.well-known/oauth-authorization-server/mcp', 'live', server],
  ['acme.mcp.example.com', '/oauth/authorize?a=b', 'live', authorization('/authorize?a=b')],
  ['acme.mcp.example.com', '/.well-known/openid-configuration', 'live', { kind: 'unknown' }],
  ['acme.mcp.example.com', '/', 'live', { kind: 'unknown' }],
])('routes %s%s to a server that has its own host', (host, url, environment, target) => {
  expect(byHost(host, url)).toEqual({ environment, subdomain: 'acme', target })
})

test.each([
  ['127.0.0.1:8788', '/mcp/acme', 'live', { kind: 'mcp' }],
  ['localhost:8788', '/sandbox/mcp/acme/', 'sandbox', { kind: 'mcp' }],
  ['127.0.0.1:8788', '/.well-known/oauth-protected-resource/mcp/acme', 'live', metadata],
  ['127.0.0.1:8788', '/.well-known/oauth-authorization-server/sandbox/mcp/acme', 'sandbox', server],
  ['127.0.0.1:8788', '/mcp/acme/.well-known/oauth-authorization-server', 'live', server],
  ['127.0.0.1:8788', '/mcp/acme/oauth/token', 'live', authorization('/token')],
  ['127.0.0.1:8788', '/mcp/acme/.well-known/openid-configuration', 'live', { kind: 'unknown' }],
])('routes %s%s to a server that has its own path', (host, url, environment, target) => {
  expect(byPath(host, url)).toEqual({ environment, subdomain: 'acme', target })
})

test.each([
  [byHost, 'evil.example', '/mcp'],
  [byHost, 'mcp.example.com', '/mcp'],
  [byHost, 'a.b.mcp.example.com', '/mcp'],
  [byHost, 'acme.mcp.example.com.evil.example', '/mcp'],
  [byHost, 'acmeXmcp.example.com', '/mcp'],
  [byHost, 'acme.mcp.example.com:8443', '/mcp'],
  [byHost, 'acme.mcp.example.com:80', '/mcp'],
  // With the final dot, the server's resource name would differ from the one in its metadata.
  [byHost, 'acme.mcp.example.com.', '/mcp'],
  [byHost, 'acmé.mcp.example.com', '/mcp'],
  [byHost, 'acme.mcp.example.com@evil.example', '/mcp'],
  [byHost, 'acme.mcp.example.com, evil.example', '/mcp'],
  [byPath, 'evil.example:8788', '/mcp/acme'],
  [byPath, '127.0.0.1', '/mcp/acme'],
  [byPath, '127.0.0.1:8788', '/mcp/'],
  [byPath, '127.0.0.1:8788', '/mcp/-acme'],
  [byPath, '127.0.0.1:8788', '/.well-known/oauth-protected-resource'],
  [byPath, '', '/mcp/acme'],
])('routes to no server: %#', (route, host, url) => {
  expect(route(host, url)).toBeUndefined()
})
