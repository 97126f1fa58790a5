import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { beforeEach, expect, test } from 'vitest'
import { beginSession, request, send, stateless, toolCall } from './mcp-caller.ts'
import type { AddedServer } from './proxy-stack.ts'
import { openEvents, respondAsServer, sendResult, type Seen } from './scripted-origin.ts'
import { startScriptedServer } from './scripted-server.ts'

/* Limits on what one customer, or the customers of one provider, can use of the proxy. */

/** Calls of `search` that the origin has not answered. */
let open: { seen: Seen; response: ServerResponse }[]

const settings = {
  TOLLGATE_MCP_REQUESTS_PER_CUSTOMER_MAX: '2',
  TOLLGATE_MCP_REQUESTS_PER_PROVIDER_MAX: '3',
  TOLLGATE_MCP_REQUESTS_MAX: '4',
  TOLLGATE_MCP_STREAMS_PER_CUSTOMER_MAX: '1',
  TOLLGATE_MCP_STREAMS_PER_PROVIDER_MAX: '4',
  TOLLGATE_MCP_CANCEL_GRACE_MS: '50',
  TOLLGATE_MCP_UNREAD_MS: '1000',
}

const { stack, origin, server, token } = await startScriptedServer(settings, { connectionsMax: 4 })

beforeEach(() => {
  stack.gate.reset()
  origin.seen.length = 0
  open = []
  const answer = respondAsServer()
  origin.respond = (seen, response) =>
    seen.message['method'] === 'tools/call' ? open.push({ seen, response }) : answer(seen, response)
})

function answerAll(): void {
  for (const { seen, response } of open.splice(0)) sendResult(response, seen, { content: [] })
}

/** Opens calls that the origin does not answer, and waits until it has received them. */
async function openCalls(count: number, at = server, bearer = token, session = {}) {
  const before = open.length
  const calls = Array.from({ length: count }, (_, id) =>
    send(at.proxyUrl, bearer, toolCall(id + 100), session),
  )
  await expect.poll(() => open.length).toBe(before + count)
  return { ended: () => Promise.all(calls) }
}

const tooMany = (id: number | null, of: string) => ({
  id,
  error: { code: -32_603, message: expect.stringContaining(of) as string },
})

test('refuses a customer with too many open requests by JSON-RPC errors, and serves others', async () => {
  const session = await beginSession(server.proxyUrl, token)
  const calls = await openCalls(2)
  for (const { body, headers } of [
    { body: toolCall(7), headers: session },
    stateless(7, 'tools/call', { name: 'search', arguments: {} }),
    { body: request(7, 'tools/list'), headers: session },
  ]) {
    const refused = await send(server.proxyUrl, token, body, headers)
    expect([refused.status, refused.body]).toMatchObject([200, tooMany(7, 'of this customer')])
  }
  expect(open).toHaveLength(2)
  // A refused request is not admitted, so it is not billed.
  expect(stack.gate.admitted).toHaveLength(2)
  const eve = await stack.token(server, { sub: 'cus_eve' })
  expect((await send(server.proxyUrl, eve, request(1, 'ping'))).body).toHaveProperty('result')
  answerAll()
  await calls.ended()
  const next = await send(server.proxyUrl, token, request(8, 'ping'), session)
  expect(next.body).toHaveProperty('result')
})

test('counts a response that its client does not read until the connection is closed', async () => {
  const session = await beginSession(server.proxyUrl, token)
  const sockets = [1, 2].map((id) => callWithoutReading(toolCall(id), session))
  await expect.poll(() => open.length).toBe(2)
  // The answers are larger than the socket buffers of both sides.
  for (const { seen, response } of open.splice(0)) {
    sendResult(response, seen, { content: [{ type: 'text', text: 'x'.repeat(6_000_000) }] })
  }
  await expect.poll(() => stack.gate.settled.length).toBe(2)
  const refused = await send(server.proxyUrl, token, request(7, 'ping'), session)
  expect(refused.body).toMatchObject(tooMany(7, 'of this customer'))
  const next = async (id: number) =>
    (await send(server.proxyUrl, token, request(id, 'ping'), session)).body
  await expect.poll(() => next(8), { timeout: 5_000 }).toHaveProperty('result')
  for (const socket of sockets) socket.destroy()
  const both = async () =>
    (await Promise.all([next(9), next(10)])).every((body) => 'result' in body)
  await expect.poll(both).toBe(true)
})

/** Sends a call and reads no answer, apart from what Node buffers itself. */
function callWithoutReading(message: object, session: Record<string, string>): Socket {
  const { hostname, port, pathname, host } = new URL(server.proxyUrl)
  const body = JSON.stringify(message)
  const headers = {
    ...{ host, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...{ accept: 'application/json', 'content-length': String(body.length), ...session },
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const socket = connect(Number(port), hostname)
  socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
  return socket.on('error', () => undefined)
}

test("answers a probe with 400 and a large request with 429 at the customer's limit", async () => {
  const calls = await openCalls(2)
  const { body, headers } = stateless(1, 'server/discover')
  expect((await send(server.proxyUrl, token, body, headers)).status).toBe(400)
  const large = toolCall(1, 'search', { text: 'x'.repeat(100_000) })
  const refused = await send(server.proxyUrl, token, large)
  expect([refused.status, refused.body]).toMatchObject([
    429,
    { id: null, error: { code: -32_000 } },
  ])
  answerAll()
  await calls.ended()
})

test('accepts a cancellation at the limit, and ends the cancelled call', async () => {
  const session = await beginSession(server.proxyUrl, token)
  const calls = await openCalls(2, server, token, session)
  for (const requestId of [100, 101]) {
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }
    expect((await send(server.proxyUrl, token, cancelled, session)).status).toBe(202)
  }
  await calls.ended()
  expect(stack.gate.settled).toMatchObject([{ isCancelled: true }, { isCancelled: true }])
  const next = await send(server.proxyUrl, token, request(8, 'ping'), session)
  expect(next.body).toHaveProperty('result')
})

test('counts each request of a batch', async () => {
  const session = { ...(await beginSession(server.proxyUrl, token)) }
  session['mcp-protocol-version'] = '2025-03-26'
  const batch = [toolCall(1), toolCall(2), toolCall(3)]
  const answered = send(server.proxyUrl, token, batch, session)
  await expect.poll(() => open.length).toBe(2)
  answerAll()
  expect((await answered).body).toMatchObject([
    { id: 1, result: {} },
    { id: 2, result: {} },
    tooMany(3, 'of this customer'),
  ])
})

test('limits the requests of one provider, and all requests of the process', async () => {
  const second = await stack.addServer({ originUrl: origin.url })
  const other = await stack.addServer({ originUrl: origin.url, providerId: 'other' })
  const tokenOf = (at: AddedServer, sub: string) => stack.token(at, { sub })
  const calls = [
    await openCalls(2, server, await tokenOf(server, 'cus_1')),
    await openCalls(1, second, await tokenOf(second, 'cus_2')),
  ]
  const refused = await send(second.proxyUrl, await tokenOf(second, 'cus_3'), toolCall(7))
  expect(refused.body).toMatchObject(tooMany(7, 'of this provider'))
  calls.push(await openCalls(1, other, await tokenOf(other, 'cus_3')))
  const last = await send(other.proxyUrl, await tokenOf(other, 'cus_4'), toolCall(7))
  expect(last.body).toMatchObject(tooMany(7, 'Too many requests are open'))
  answerAll()
  await Promise.all(calls.map((each) => each.ended()))
})

test('counts callers without a token by address', async () => {
  const free = await stack.addServer({ originUrl: origin.url, tools: { search: 'public' } })
  const calls = [1, 2].map((id) => send(free.proxyUrl, undefined, toolCall(id)))
  await expect.poll(() => open.length).toBe(2)
  const refused = await send(free.proxyUrl, undefined, toolCall(7), {
    'x-forwarded-for': '192.0.2.1',
  })
  expect(refused.body).toMatchObject(tooMany(7, 'of this customer'))
  answerAll()
  await Promise.all(calls)
})

/** Controllers of open streams. Aborting one disconnects its client. */
const streams: AbortController[] = []

async function openStream(bearer: string, init: RequestInit): Promise<Response> {
  const controller = new AbortController()
  streams.push(controller)
  const headers = { ...init.headers, authorization: `Bearer ${bearer}` }
  return fetch(server.proxyUrl, { ...init, headers, signal: controller.signal })
}

function listen(bearer: string): Promise<Response> {
  const { body, headers } = stateless(1, 'subscriptions/listen')
  const accept = 'application/json, text/event-stream'
  const sent = { ...headers, 'content-type': 'application/json', accept }
  return openStream(bearer, { method: 'POST', body: JSON.stringify(body), headers: sent })
}

function respondWithStreams(): void {
  const respond = origin.respond
  origin.respond = (seen, response) => {
    const isStream = seen.method === 'GET' || seen.message['method'] === 'subscriptions/listen'
    if (!isStream) return respond(seen, response)
    return openEvents(response)({ method: 'notifications/tools/list_changed' })
  }
}

test("limits a customer's streams, and lets a new stream of a session replace its old one", async () => {
  respondWithStreams()
  const sessions = [
    await beginSession(server.proxyUrl, token),
    await beginSession(server.proxyUrl, token),
  ] as const
  const get = async (session: object) => {
    const headers = { ...session, accept: 'text/event-stream' }
    return (await openStream(token, { headers })).status
  }
  const listened = async () => (await listen(token)).status
  expect(await get(sessions[0])).toBe(200)
  expect(await get(sessions[0])).toBe(200)
  expect(await get(sessions[1])).toBe(429)
  expect(await listened()).toBe(429)
  for (const controller of streams.splice(0)) controller.abort()
  await expect.poll(listened).toBe(200)
  expect(await get(sessions[1])).toBe(429)
  // A stream takes no place of requests.
  for (let id = 0; id < 2; id++) {
    expect((await send(server.proxyUrl, token, request(id, 'ping'))).body).toHaveProperty('result')
  }
  for (const controller of streams.splice(0)) controller.abort()
})

test('limits subscriptions separately from calls, and completes them when the proxy stops', async () => {
  respondWithStreams()
  const tokens = await Promise.all(
    ['cus_1', 'cus_2', 'cus_3', 'cus_4', 'cus_5'].map((sub) => stack.token(server, { sub })),
  )
  const opened: Response[] = []
  for (const bearer of tokens.slice(0, 4)) {
    let answer: Response | undefined
    // Repeat until the proxy has noticed that the earlier streams are closed.
    await expect.poll(async () => (answer = await listen(bearer)).status).toBe(200)
    opened.push(answer!)
  }
  const refused = await listen(tokens[4]!)
  expect([refused.status, await refused.text()]).toEqual([
    429,
    expect.stringContaining('of this provider'),
  ])
  // The number of calls equals the number of connections.
  const calls = await openCalls(2, server, tokens[0])
  const others = await openCalls(1, server, tokens[1])
  answerAll()
  await Promise.all([calls.ended(), others.ended()])
  const begunAt = performance.now()
  const restarted = stack.restartProxy({ ...settings, TOLLGATE_MCP_STOP_MS: '20000' })
  // The last message of a stream tells its client that the subscription is complete, not that it failed.
  for (const answer of opened) expect(await answer.text()).toContain('"resultType":"complete"')
  await restarted
  expect(performance.now() - begunAt).toBeLessThan(15_000)
  streams.splice(0)
})

/** Writes a request on a separate connection, which the test can close before the answer. */
function write(socket: Socket, method: string, headers: Record<string, string>, body = ''): void {
  const { pathname, host } = new URL(server.proxyUrl)
  const sent = {
    ...{ host, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...{ 'content-length': String(body.length), ...headers },
  }
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`${method} ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
}

function connectToProxy(): Socket {
  const { hostname, port } = new URL(server.proxyUrl)
  return connect(Number(port), hostname).on('error', () => undefined)
}

test.each([
  ['GET of a session', false],
  ['GET of a session behind another request of its connection', true],
  ['subscription', false],
  ['subscription behind another request of its connection', true],
] as const)('ends the stream of a disconnected client: %s', async (kind, isBehind) => {
  const respond = origin.respond
  let opened = 0
  let closed = 0
  origin.respond = (seen, response) => {
    const isStream = seen.method === 'GET' || seen.message['method'] === 'subscriptions/listen'
    if (!isStream) return respond(seen, response)
    opened += 1
    openEvents(response)
    return response.on('close', () => (closed += 1))
  }
  const [first, second] = [
    await beginSession(server.proxyUrl, token),
    await beginSession(server.proxyUrl, token),
  ]
  const socket = connectToProxy()
  const accept = 'application/json, text/event-stream'
  if (isBehind) write(socket, 'POST', { accept, ...first }, JSON.stringify(toolCall(1)))
  const { body, headers } = stateless(1, 'subscriptions/listen')
  if (kind.startsWith('GET')) write(socket, 'GET', { accept, ...first })
  else write(socket, 'POST', { accept, ...headers }, JSON.stringify(body))
  await expect.poll(() => opened).toBe(1)
  expect((await openStream(token, { headers: { accept, ...second } })).status).toBe(429)
  socket.destroy()
  await expect.poll(() => closed).toBe(1)
  // The place of the closed stream is free again.
  const next = async () => (await openStream(token, { headers: { accept, ...second } })).status
  await expect.poll(next).toBe(200)
  answerAll()
  for (const controller of streams.splice(0)) controller.abort()
})

test('frees the place of a disconnected client even while its stream waits to be resumed', async () => {
  const session = await beginSession(server.proxyUrl, token)
  origin.respond = ({ method }, response) => {
    if (method !== 'GET') return openEvents(response)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return response.end('id: 1\nretry: 10000\ndata: {}\n\n')
  }
  const headers = { ...session, accept: 'text/event-stream' }
  expect((await openStream(token, { headers })).status).toBe(200)
  streams.pop()!.abort()
  await expect.poll(async () => (await listen(token)).status, { timeout: 5_000 }).toBe(200)
  for (const controller of streams.splice(0)) controller.abort()
})

test('limits notifications, responses and DELETE separately', async () => {
  const respond = origin.respond
  const waiting: ServerResponse[] = []
  origin.respond = (seen, response) => {
    const isWaiting = seen.method === 'DELETE' || seen.message['method'] === 'notifications/slow'
    return isWaiting ? waiting.push(response) : respond(seen, response)
  }
  const session = await beginSession(server.proxyUrl, token)
  const notification = { jsonrpc: '2.0', method: 'notifications/slow' }
  const notify = () => send(server.proxyUrl, token, notification, session)
  const end = () => send(server.proxyUrl, token, undefined, session, 'DELETE')
  const other = await beginSession(server.proxyUrl, token)
  const pending = [notify(), send(server.proxyUrl, token, undefined, other, 'DELETE')]
  await expect.poll(() => waiting.length).toBe(2)
  const response = { jsonrpc: '2.0', id: 1, result: {} }
  for (const refused of [notify, end, () => send(server.proxyUrl, token, response, session)]) {
    const { status, headers, body } = await refused()
    expect([status, headers.get('retry-after')]).toEqual([429, '2'])
    expect(body).toMatchObject({
      id: null,
      error: { code: -32_000, message: expect.stringContaining('of this customer') as string },
    })
  }
  // The waiting messages took no place of requests, and a session whose DELETE was refused continues.
  const calls = await openCalls(2, server, token, session)
  expect(waiting).toHaveLength(2)
  for (const each of waiting.splice(0)) each.writeHead(202).end()
  expect((await Promise.all(pending)).map(({ status }) => status)).toEqual([202, 202])
  answerAll()
  await calls.ended()
})
