import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { generate } from 'selfsigned'
import { afterEach, expect, test } from 'vitest'
import { parseAllowList } from './allow-list.ts'
import { GuardedHttp, type GuardedHttpOptions } from './guarded-http.ts'
import type { OutboundFailure } from './outbound-error.ts'
import type { Resolve } from './resolve.ts'

const opened: { close(): unknown }[] = []

afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

type Listening = { readonly url: string; readonly port: number; connections(): number }

async function listen(server: Server, host = '127.0.0.1', wanted = 0): Promise<Listening> {
  let connections = 0
  server.on('connection', () => (connections += 1))
  await new Promise<void>((resolve) => server.listen(wanted, host, resolve))
  opened.push({ close: () => server.closeAllConnections() }, server)
  const { port } = server.address() as AddressInfo
  return { url: `http://${host}:${port}`, port, connections: () => connections }
}

function serve(handler: RequestListener): Promise<Listening> {
  return listen(createServer(handler))
}

function guarded(options: Partial<GuardedHttpOptions> = {}) {
  return guardedHttp(options).fetch
}

function guardedHttp(options: Partial<GuardedHttpOptions> = {}) {
  const http = new GuardedHttp({
    allowed: parseAllowList('127.0.0.1'),
    ports: [443],
    isPlainHttpAllowed: true,
    connectTimeoutMs: 2_000,
    timeoutMs: 5_000,
    answerBytesMax: 10_000,
    connectionsPerOriginMax: 8,
    ...options,
  })
  opened.push(http)
  return http
}

/** Returns a resolver that gives these answers one after the other. The last answer is repeated. */
function names(...answers: string[][]): Resolve & { asked: number } {
  const resolve: Resolve = () => {
    const addresses = answers[Math.min(told.asked, answers.length - 1)]!
    told.asked += 1
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    return Promise.resolve(found)
  }
  const told = Object.assign(resolve, { asked: 0 })
  return told
}

const failing = (failure: OutboundFailure): unknown => expect.objectContaining({ failure })

test('sends text and headers, and returns the response', async () => {
  const server = await serve((request, response) => {
    request.setEncoding('utf8').on('data', (text: string) => {
      response.setHeader('x-seen', String(request.headers['x-key']))
      response.setHeader('set-cookie', ['a=1', 'b=2'])
      response.writeHead(201).end(`${request.method} ${request.url} ${text}`)
    })
  })
  const answer = await guarded()(`${server.url}/mcp?x=1#part`, {
    method: 'POST',
    headers: { 'x-key': 'k' },
    body: 'hello',
  })
  expect(answer.status).toBe(201)
  expect(answer.headers.get('x-seen')).toBe('k')
  expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  expect(await answer.text()).toBe('POST /mcp?x=1 hello')
})

test('refuses a name that resolves to a private address, without connecting', async () => {
  const server = await serve((_request, response) => response.end('secret'))
  for (const address of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1']) {
    const resolve = names([address])
    const allowed = parseAllowList('')
    const fetch = guarded({ allowed, ports: [server.port], resolve })
    await expect(fetch(`https://public.example:${server.port}/`)).rejects.toEqual(
      failing('refused'),
    )
    expect(resolve.asked).toBe(1)
  }
  expect(server.connections()).toBe(0)
})

test('refuses a name if one of its addresses is private', async () => {
  const resolve = names(['93.184.216.34', '127.0.0.1'])
  const fetch = guarded({ allowed: parseAllowList(''), resolve })
  await expect(fetch('https://public.example/')).rejects.toEqual(failing('refused'))
})

test('connects only to the checked address if a name changes between requests', async () => {
  const home = await serve((_request, response) => response.end('secret'))
  const fine = await listen(createServer(), '127.0.0.2', home.port)
  const resolve = names(['127.0.0.2'], ['127.0.0.1'])
  const allowed = parseAllowList('127.0.0.2')
  const fetch = guarded({ allowed, ports: [home.port], resolve })
  const url = `https://rebinding.example:${home.port}/`
  await expect(fetch(url)).rejects.toEqual(failing('tls'))
  expect([fine.connections(), resolve.asked]).toEqual([1, 1])
  await expect(fetch(url)).rejects.toEqual(failing('refused'))
  expect([fine.connections(), home.connections()]).toEqual([1, 0])
})

test('reaches a private address only by an allowed name', async () => {
  const server = await serve((_request, response) => response.end('mine'))
  const allowed = parseAllowList('mcp.internal')
  const fetch = guarded({ allowed, resolve: names(['127.0.0.1']) })
  expect(await (await fetch(`http://mcp.internal:${server.port}/`)).text()).toBe('mine')
  await expect(fetch(`http://127.0.0.1:${server.port}/`)).rejects.toEqual(failing('refused'))
})

test('follows no redirect', async () => {
  const inner = await serve((_request, response) => response.end('secret'))
  const server = await serve((_request, response) =>
    response.writeHead(307, { location: inner.url }).end(),
  )
  const answer = await guarded()(server.url)
  expect(answer.status).toBe(307)
  expect(inner.connections()).toBe(0)
})

test('fails when a response is too long', async () => {
  const server = await serve((_request, response) => response.end('x'.repeat(10_001)))
  const reading = guarded()(server.url).then((answer) => answer.text())
  await expect(reading).rejects.toEqual(failing('too-large'))
})

test('requests no compression and does not decompress', async () => {
  const packed = gzipSync('x'.repeat(1_000_000))
  const server = await serve((request, response) => {
    expect(request.headers['accept-encoding']).toBe('identity')
    response.setHeader('content-encoding', 'gzip')
    response.end(packed)
  })
  const answer = await guarded()(server.url)
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(packed)
})

test('times out for a server that never responds and for one that never ends', async () => {
  const silent = await serve(() => undefined)
  await expect(guarded({ timeoutMs: 100 })(silent.url)).rejects.toEqual(failing('timeout'))
  const endless = await serve((_request, response) => response.write('a'))
  const answer = await guarded({ timeoutMs: 3_000 })(endless.url)
  await expect(answer.text()).rejects.toEqual(failing('timeout'))
})

test('allows a response to be cancelled', async () => {
  const server = await serve((_request, response) => response.write('a'))
  const answer = await guarded()(server.url)
  await answer.body?.cancel()
  expect((await guarded()(server.url)).status).toBe(200)
})

test('refuses a server with a self-signed certificate', async () => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: '127.0.0.1' }])
  const server = await listen(
    createTlsServer({ cert, key }, (_request, response) => response.end('secret')),
  )
  const fetch = guarded()
  await expect(fetch(server.url.replace('http:', 'https:'))).rejects.toEqual(failing('tls'))
})

test('reports a closed port as unreachable', async () => {
  const server = createServer()
  const { url } = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  await expect(guarded()(url)).rejects.toEqual(failing('unreachable'))
})

test('streams an opened response and ends it with its request', async () => {
  let isClosed = false
  const server = await serve((_request, response) => {
    response.writeHead(201, { 'x-a': '1' }).write('first')
    response.on('close', () => (isClosed = true))
  })
  const ending = new AbortController()
  const http = guardedHttp()
  const request = { url: server.url, method: 'POST', headers: {}, signal: ending.signal } as const
  const { status, header, body } = await http.open({ ...request, body: 'x' })
  expect([status, header('x-a'), header('x-b')]).toEqual([201, '1', undefined])
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  expect(String((await chunks.next()).value)).toBe('first')
  ending.abort()
  await expect(chunks.next()).rejects.toThrow()
  await expect.poll(() => isClosed).toBe(true)
})

test('does not open a request to a refused address', async () => {
  const http = guardedHttp({ allowed: parseAllowList('') })
  const { signal } = new AbortController()
  const request = { url: 'https://127.0.0.1/', method: 'GET', headers: {}, signal } as const
  await expect(http.open(request)).rejects.toEqual(failing('refused'))
})
