import { request as sendRequest, type IncomingHttpHeaders } from 'node:http'
import { proxyAddressOf } from '@tollgate/domain/mcp/proxy-address'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { afterAll, describe, expect, test } from 'vitest'
import { request } from './mcp-caller.ts'
import { ProxyStack, type AddedServer } from './proxy-stack.ts'
import { startScriptedOrigin } from './scripted-origin.ts'

/* One case for each rule of a protected resource: RFC 9728 for its metadata, RFC 6750 for its challenges. */

const hostTemplate = 'https://{subdomain}.mcp.example.com/mcp'

const stack = await ProxyStack.start({ TOLLGATE_MCP_LIVE_URL: hostTemplate })
const origin = await startScriptedOrigin()
/** A server that shares its host with other servers. */
const byPath = await stack.addServer({ originUrl: origin.url })
const added = await stack.addServer({ originUrl: origin.url, environment: 'live' })
/** A server with its own host, behind a TLS terminator. */
const byHost = { ...added, ...proxyAddressOf(hostTemplate, added.subdomain) }

afterAll(async () => {
  await stack.stop()
  await origin.stop()
})

type Answer = { status: number; headers: IncomingHttpHeaders; text: string; body: JsonObject }

/** Sends a request to the proxy with the Host header of the URL. */
function send(
  url: string,
  { method = 'GET', headers = {}, body }: SendOptions = {},
): Promise<Answer> {
  const { host, pathname, search } = new URL(url)
  return new Promise((resolve, reject) => {
    const sent = sendRequest(
      { port: stack.port, path: pathname + search, method, headers: { host, ...headers } },
      (answer) => {
        let text = ''
        answer.on('data', (chunk) => (text += String(chunk)))
        answer.on('end', () => {
          const isJson = text.startsWith('{')
          const parsed = isJson ? (JSON.parse(text) as JsonObject) : {}
          resolve({ status: answer.statusCode!, headers: answer.headers, text, body: parsed })
        })
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

type SendOptions = { method?: string; headers?: Record<string, string>; body?: string }

const place = '/.well-known/oauth-protected-resource'
const metadataUrlOf = ({ proxyUrl, issuer }: AddedServer): string => {
  const { origin: root, pathname } = new URL(proxyUrl)
  return root + place + (issuer === root ? '' : pathname)
}
const servers = [
  ['with a path of its own', () => byPath],
  ['with a host of its own', () => byHost],
] as const

const ping = JSON.stringify(request(1, 'ping'))
const post = (server: AddedServer, headers: Record<string, string> = {}, query = '') =>
  send(server.proxyUrl + query, {
    ...{ method: 'POST', body: ping },
    headers: { 'content-type': 'application/json', ...headers },
  })

describe.each(servers)('the metadata of a server %s', (_name, server) => {
  test('RFC 9728 2: has the resource and its authorization server, and no empty claim', async () => {
    const { body } = await send(metadataUrlOf(server()))
    expect(body['resource']).toBe(server().proxyUrl)
    expect(body['authorization_servers']).toEqual([server().issuer])
    expect(body['bearer_methods_supported']).toEqual(['header'])
    for (const value of Object.values(body)) expect(value).not.toEqual([])
  })

  test('RFC 9728 1.2: the resource is a URL without a fragment', async () => {
    const { body } = await send(metadataUrlOf(server()))
    const resource = String(body['resource'])
    expect(new URL(resource).hash).toBe('')
    expect(resource).not.toContain('#')
  })

  test('RFC 9728 3.1: is found between the host and the path of the resource', async () => {
    const { origin: root, pathname } = new URL(server().proxyUrl)
    const { status, body } = await send(root + place + pathname)
    expect([status, body['resource']]).toEqual([200, server().proxyUrl])
  })

  test('RFC 9728 3.2: is JSON with status 200 and may be cached', async () => {
    const { status, headers } = await send(metadataUrlOf(server()))
    expect([status, headers['content-type']]).toEqual([200, 'application/json'])
    expect(headers['cache-control']).toBe('public, max-age=60')
  })

  test('RFC 9728 3.3: names the resource from which the metadata URL is derived', async () => {
    for (const url of [metadataUrlOf(server()), metadataUrlOf(server()) + '/', server().proxyUrl]) {
      const { headers } = url.includes(place) ? { headers: undefined } : await post(server())
      const named = /resource_metadata="([^"]+)"/.exec(String(headers?.['www-authenticate']))?.[1]
      const { body } = await send(named ?? url)
      expect(body['resource']).toBe(server().proxyUrl)
    }
  })

  test('RFC 9728 5.1: sends the metadata URL to a request without a token', async () => {
    const { status, headers } = await post(server())
    const expected = `Bearer resource_metadata="${metadataUrlOf(server())}"`
    expect([status, headers['www-authenticate']]).toEqual([401, expected])
  })

  test('lets pages of every origin read it, only with GET', async () => {
    const url = metadataUrlOf(server())
    const headers = { origin: 'https://client.example' }
    const read = await send(url, { headers })
    expect(read.headers['access-control-allow-origin']).toBe('*')
    const fields = { ...headers, 'access-control-request-method': 'GET' }
    const preflight = await send(url, { method: 'OPTIONS', headers: fields })
    expect(preflight.status).toBe(204)
    expect(preflight.headers['access-control-allow-methods']).toContain('GET')
    expect(await send(url, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
    for (const method of ['POST', 'PUT', 'DELETE']) {
      expect(await send(url, { method })).toMatchObject({
        status: 405,
        headers: { allow: 'GET, HEAD, OPTIONS' },
      })
    }
  })

  test('RFC 9728 7.3: is the same whatever a client sends', async () => {
    const headers = {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
      forwarded: 'host=evil.example',
    }
    const { text } = await send(metadataUrlOf(server()) + '?resource=https://evil.example', {
      headers,
    })
    expect(text).not.toContain('evil')
    const challenged = await post(server(), headers)
    expect(challenged.headers['www-authenticate']).toContain(metadataUrlOf(server()))
  })
})

test('RFC 9728 2: resource and authorization server use https if the template does', () => {
  expect(byHost.proxyUrl).toMatch(/^https:/)
  expect(byHost.issuer).toMatch(/^https:/)
})

test.each([
  ['at the root of a host that servers share', () => new URL(byPath.proxyUrl).origin + place],
  [
    'of a server that does not exist',
    () => `${new URL(byPath.proxyUrl).origin}${place}/mcp/nobody`,
  ],
  ['of another path', () => `${new URL(byHost.proxyUrl).origin}${place}/other`],
  ['of a host that is not ours', () => `http://evil.example${place}`],
  [
    'of one server at the host of another',
    () => {
      return `${new URL(byHost.proxyUrl).origin}${place}${new URL(byPath.proxyUrl).pathname}`
    },
  ],
])('RFC 9728 3.3: there is no metadata %s', async (_name, url) => {
  expect((await send(url())).status).toBe(404)
})

describe.each(servers)('challenges of a server %s', (_name, server) => {
  const challengeWith = (error: string) =>
    `Bearer error="${error}", resource_metadata="${metadataUrlOf(server())}"`

  test('RFC 6750 2.1: accept the scheme Bearer in upper and lower case', async () => {
    const token = await stack.token(server())
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expect((await post(server(), { authorization: `${scheme} ${token}` })).status).toBe(200)
    }
  })

  test.each(['Basic YTpi', 'Bearer', 'Bearer a b', 'Bearer nonsense', 'DPoP nonsense'])(
    'RFC 6750 3.1: answer %s with 401 and invalid_token',
    async (authorization) => {
      const { status, headers } = await post(server(), { authorization })
      expect([status, headers['www-authenticate']]).toEqual([401, challengeWith('invalid_token')])
    },
  )

  test('RFC 6750 3.1: have no error code for a request without a token', async () => {
    const { headers } = await post(server())
    expect(headers['www-authenticate']).not.toContain('error')
  })

  test('RFC 6750 2.3 and 5.3: refuse a token in the query with 400, even beside one in the headers', async () => {
    origin.seen.length = 0
    const token = await stack.token(server())
    const headers = { authorization: `Bearer ${token}` }
    for (const given of [{}, headers]) {
      const answer = await post(server(), given, `?access_token=${token}`)
      expect(answer.status).toBe(400)
      expect(answer.headers['www-authenticate']).toBe(challengeWith('invalid_request'))
      expect(answer.text).not.toContain(token)
    }
    expect(origin.seen).toEqual([])
  })

  test('RFC 6750 2.2: ignore a token in a form', async () => {
    const token = await stack.token(server())
    const answer = await send(server().proxyUrl, {
      method: 'POST',
      body: `access_token=${token}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(answer.status).toBe(401)
  })

  test('RFC 6750 3: can be read by pages', async () => {
    const { headers } = await post(server(), { origin: 'https://claude.ai' })
    expect(headers['access-control-expose-headers']).toContain('WWW-Authenticate')
  })
})

test('ignores the host in X-Forwarded-Host', async () => {
  const { host } = new URL(byHost.proxyUrl)
  const headers = { 'x-forwarded-host': host, forwarded: `host=${host}` }
  expect((await send(`http://evil.example/mcp`, { headers })).status).toBe(404)
})
