import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net'
import { gzipSync } from 'node:zlib'
import { generate } from 'selfsigned'
import { afterEach, expect, test } from 'vitest'
import { parseAllowList } from '../src/outbound/allow-list.ts'
import { GuardedHttp, type GuardedHttpOptions } from '../src/outbound/guarded-http.ts'
import type { PostOutcome } from '../src/outbound/post.ts'

const opened: (() => unknown)[] = []

afterEach(async () => {
  for (const close of opened.splice(0)) await close()
})

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.push(() => server.close())
  return (server.address() as AddressInfo).port
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  const port = await listen(server)
  opened.push(() => server.closeAllConnections())
  return `http://127.0.0.1:${port}/`
}

/** Starts a server that answers every request with these bytes. The connection stays open unless `then` ends it. */
async function answerWith(bytes: string, then?: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', () => {
        socket.write(bytes, () => then?.(socket))
      })
    opened.push(() => socket.destroy())
  })
  return `http://127.0.0.1:${await listen(server)}/`
}

function guarded(options: Partial<GuardedHttpOptions> = {}) {
  const http = new GuardedHttp({
    allowed: parseAllowList('127.0.0.1'),
    ports: [443],
    isPlainHttpAllowed: true,
    connectTimeoutMs: 2_000,
    timeoutMs: 10_000,
    answerBytesMax: 1,
    connectionsPerOriginMax: 8,
    ...options,
  })
  opened.push(() => http.close())
  return (url: string, body: string | Uint8Array = '{}', headers = {}) =>
    http.post({
      url,
      headers: { 'content-type': 'application/json', ...headers },
      body: Buffer.from(body),
      answerBytesMax: 16_384,
    })
}

function told(outcome: PostOutcome): string {
  return outcome.kind === 'answered'
    ? `${outcome.status} ${outcome.body.toString()}`
    : `${outcome.failure} ${outcome.status}`
}

test('joins repeated headers', async () => {
  const post = guarded()
  const twice = ['Retry-After: 5', 'retry-after: 6', 'Content-Encoding: gzip', '__proto__: 1']
  const lines = ['HTTP/1.1 503 Busy', ...twice, 'Content-Length: 0', '', '']
  expect(await post(await answerWith(lines.join('\r\n')))).toMatchObject({
    status: 503,
    headers: { 'retry-after': '5,6', 'content-encoding': 'gzip' },
  })
})

test('sends exactly the bytes, and returns the address and timings', async () => {
  const seen: Buffer[] = []
  const url = await serve((request, response) => {
    request.on('data', (chunk: Buffer) => seen.push(chunk))
    request.on('end', () => {
      response.setHeader('retry-after', '7')
      response.writeHead(503).end(`${request.method} ${String(request.headers['x-key'])}`)
    })
  })
  const body = Buffer.from([0x7b, 0x22, 0xc3, 0xa9, 0xff, 0x00, 0x7d])
  const outcome = await guarded()(url, body, { 'x-key': 'k' })
  expect(Buffer.concat(seen)).toEqual(body)
  expect(told(outcome)).toBe('503 POST k')
  expect(outcome).toMatchObject({
    isBodyCut: false,
    headers: { 'retry-after': '7' },
    trip: { address: '127.0.0.1', isConnectionReused: false },
  })
  const { connectMs, headersMs, totalMs } = outcome.trip
  expect(connectMs).toBeGreaterThan(0)
  expect(headersMs).toBeGreaterThanOrEqual(connectMs!)
  expect(totalMs).toBeGreaterThanOrEqual(headersMs!)
})

test('reuses connections, and opens at most the allowed number', async () => {
  const sockets = new Set<Socket>()
  let open = 0
  let most = 0
  const url = await serve((request, response) => {
    sockets.add(request.socket)
    most = Math.max(most, (open += 1))
    request.resume().on('end', () => setImmediate(() => response.end(() => (open -= 1))))
  })
  const post = guarded({ connectionsPerOriginMax: 3 })
  const outcomes = await Promise.all(Array.from({ length: 60 }, () => post(url)))
  expect(outcomes.filter((each) => told(each) !== '200 ')).toEqual([])
  expect(sockets.size).toBeLessThanOrEqual(3)
  expect(most).toBeLessThanOrEqual(3)
  expect((await post(url)).trip).toMatchObject({ isConnectionReused: true, connectMs: 0 })
})

test('retries if a reused connection is closed by the server', async () => {
  let requests = 0
  const url = await serve((request, response) => {
    requests += 1
    // The second request on the first connection finds it closed.
    if (requests === 2) request.socket.destroy()
    else request.resume().on('end', () => response.end('fine'))
  })
  const post = guarded({ connectionsPerOriginMax: 1 })
  expect(told(await post(url))).toBe('200 fine')
  expect(told(await post(url))).toBe('200 fine')
  expect(requests).toBe(3)
})

test('reports a new connection that is closed', async () => {
  let requests = 0
  const url = await serve((request) => {
    requests += 1
    request.socket.destroy()
  })
  expect(told(await guarded()(url))).toBe('cut-off null')
  expect(requests).toBe(1)
})

test.each([
  [0, '200 ', false],
  [16_384, `200 ${'x'.repeat(16_384)}`, false],
  [16_385, `200 ${'x'.repeat(16_384)}`, true],
])('keeps the allowed bytes of a response with %d bytes', async (bytes, expected, isBodyCut) => {
  const url = await serve((_request, response) => response.end('x'.repeat(bytes)))
  const outcome = await guarded()(url)
  expect(told(outcome)).toBe(expected)
  expect(outcome).toMatchObject({ isBodyCut })
})

test('closes the connection of an endless response, whatever length it declares', async () => {
  for (const headers of [{}, { 'content-length': '10000000000' }]) {
    let closed: Promise<unknown> | undefined
    const url = await serve((request, response) => {
      closed = new Promise((resolve) => request.socket.on('close', resolve))
      response.writeHead(200, headers)
      const write = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      }
      response.on('drain', write)
      write()
    })
    expect(await guarded()(url)).toMatchObject({ kind: 'answered', status: 200, isBodyCut: true })
    await closed
  }
})

const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'

test.each([
  ['announcements of an answer', '', 'HTTP/1.1 103 Early Hints\r\n\r\n', 'too-large null'],
  ['empty lines', '', '\r\n', 'too-large null'],
  ['blanks in a header', 'HTTP/1.1 200 OK\r\nx:', ' ', 'too-large null'],
  ['extensions of a chunk', `${chunked}1;`, 'a=b;', 'too-large 200'],
  ['headers behind the body', `${chunked}0\r\n`, 'x: y\r\n', 'too-large 200'],
  ['chunks of one byte', chunked, '1\r\nx\r\n', `200 ${'x'.repeat(16_384)}`],
])('stops reading an endless response with %s long before the timeout', async (...given) => {
  const [_what, begin, again, expected] = given
  let closed: Promise<unknown> | undefined
  const url = await answerWith(begin, (socket) => {
    closed = new Promise((resolve) => socket.on('close', resolve))
    const write = () => {
      while (!socket.destroyed && socket.write(again.repeat(2_000)));
    }
    socket.on('drain', write)
    write()
  })
  expect(told(await guarded({ timeoutMs: 60_000 })(url))).toBe(expected)
  await closed
})

test('accepts any number of small responses on one connection', async () => {
  const sockets = new Set<Socket>()
  const url = await serve((request, response) => {
    sockets.add(request.socket)
    response.end('x'.repeat(16_384))
  })
  const post = guarded({ connectionsPerOriginMax: 1 })
  for (let times = 0; times < 100; times += 1) {
    expect(await post(url)).toMatchObject({ status: 200, isBodyCut: false })
  }
  expect(sockets.size).toBe(1)
})

test('does not decompress responses', async () => {
  const packed = gzipSync(Buffer.alloc(1_000_000))
  const url = await serve((request, response) => {
    expect(request.headers['accept-encoding']).toBe('identity')
    response.setHeader('content-encoding', 'gzip').end(packed)
  })
  expect(await guarded()(url)).toMatchObject({ status: 200, body: packed })
})

test.each([301, 302, 303, 307, 308])('does not follow a %d', async (status) => {
  let inner = 0
  const target = await serve((_request, response) => response.end(String((inner += 1))))
  const url = await serve((_request, response) =>
    response.writeHead(status, { location: target }).end(),
  )
  expect(told(await guarded()(url))).toBe(`${status} `)
  expect(inner).toBe(0)
})

const manyHeaders = Array.from({ length: 40 }, (_, i) => `x-${i}: ${'v'.repeat(500)}`).join('\r\n')

test.each([
  ['headers that are too long', `HTTP/1.1 200 OK\r\n${manyHeaders}\r\n\r\n`, 'too-large null'],
  ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 'malformed null'],
  [
    'another protocol',
    'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    'cut-off null',
  ],
])('reports a response with %s', async (_what, bytes, expected) => {
  expect(told(await guarded()(await answerWith(bytes)))).toBe(expected)
})

test.each([
  ['half a line', 'HTTP/1.1 20', 300, 'timeout null'],
  ['half its headers', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n', 300, 'timeout null'],
  ['a promise of more', 'HTTP/1.1 103 Early Hints\r\n\r\n', 300, 'timeout null'],
  // Enough time for the headers to arrive on a busy machine.
  ['half its body', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nx', 5_000, 'timeout 200'],
])('reports a response with %s that never continues', async (_what, bytes, timeoutMs, expected) => {
  expect(told(await guarded({ timeoutMs })(await answerWith(bytes)))).toBe(expected)
})

test.each([
  ['nothing', '', 'cut-off null'],
  ['half its headers', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n', 'cut-off null'],
  ['half its body', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nx', 'cut-off 200'],
  ['a broken chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nx', 'cut-off 200'],
  ['a body up to its end', 'HTTP/1.1 200 OK\r\n\r\nfine', '200 fine'],
])('reports a response with %s and a closed connection', async (_what, bytes, expected) => {
  const url = await answerWith(bytes, (socket) => socket.end())
  expect(told(await guarded()(url))).toBe(expected)
})

test('reports a server that resets the connection', async () => {
  const url = await answerWith('', (socket) => socket.resetAndDestroy())
  expect(told(await guarded()(url))).toBe('cut-off null')
})

test('does not extend the timeout with each byte of a slow response', async () => {
  const url = await answerWith('HTTP/1.1 200 OK\r\n', (socket) => {
    const drip = setInterval(() => socket.write('x: y\r\n'), 10)
    socket.on('close', () => clearInterval(drip))
  })
  const outcome = await guarded({ timeoutMs: 400 })(url)
  expect(told(outcome)).toBe('timeout null')
  expect(outcome.trip.totalMs).toBeGreaterThanOrEqual(399)
})

test('applies the timeout while all connections to the server are in use', async () => {
  const url = await serve(() => undefined)
  const post = guarded({ connectionsPerOriginMax: 1, timeoutMs: 5_000 })
  const [first, second] = await Promise.all([post(url), post(url)])
  expect([first, second].map(told)).toEqual(['timeout null', 'timeout null'])
})

test('reports an address without a server', async () => {
  const post = guarded({ allowed: parseAllowList('127.0.0.0/8') })
  // Bound on another address, so that no other process uses the port.
  const port = await listen(createTcpServer())
  expect(await post(`http://127.0.0.3:${port}/`)).toMatchObject({
    failure: 'unreachable',
    message: 'The address cannot be reached (ECONNREFUSED)',
    trip: { address: null, connectMs: null, headersMs: null },
  })
})

async function serveTls(names: string[], listener: RequestListener) {
  const now = Date.now()
  const { cert, private: key } = await generate([{ name: 'commonName', value: names[0]! }], {
    notBeforeDate: new Date(now - 60_000),
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: names.map((value) => ({ type: 2, value })) },
    ],
  })
  const server = createTlsServer({ cert, key }, listener)
  const port = await listen(server)
  opened.push(() => server.closeAllConnections())
  return { port, certificateAuthorities: cert }
}

const homeAddress = [{ address: '127.0.0.1', family: 4 }]

test('uses the host name for the certificate, for SNI and for the server', async () => {
  const { port, certificateAuthorities } = await serveTls(
    ['hooks.example'],
    (request, response) => {
      const { servername } = request.socket as unknown as { servername: string }
      response.end(`${servername} ${request.headers.host}`)
    },
  )
  const post = guarded({
    certificateAuthorities,
    ports: [port],
    resolve: () => Promise.resolve(homeAddress),
  })
  const outcome = await post(`https://hooks.example:${port}/`)
  expect(told(outcome)).toBe(`200 hooks.example hooks.example:${port}`)
  expect(outcome.trip.address).toBe('127.0.0.1')
})

test('refuses a certificate for another name, and one without a trusted authority', async () => {
  const { port, certificateAuthorities } = await serveTls(['hooks.example'], (_request, response) =>
    response.end('secret'),
  )
  const resolve = () => Promise.resolve(homeAddress)
  const trusting = guarded({ certificateAuthorities, ports: [port], resolve })
  expect(told(await trusting(`https://other.example:${port}/`))).toBe('tls null')
  const strict = guarded({ ports: [port], resolve })
  expect(told(await strict(`https://hooks.example:${port}/`))).toBe('tls null')
})

test('reports a server that does not speak TLS', async () => {
  const url = await answerWith('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
  expect(told(await guarded()(url.replace('http:', 'https:')))).toBe('tls null')
})

test('applies the connect timeout to a server that never completes the TLS handshake', async () => {
  const server = createTcpServer((socket) => opened.push(() => socket.destroy()))
  const port = await listen(server)
  const outcome = await guarded({ connectTimeoutMs: 200 })(`https://127.0.0.1:${port}/`)
  expect(told(outcome)).toBe('timeout null')
  expect(outcome.trip.totalMs).toBeLessThan(10_000)
})
