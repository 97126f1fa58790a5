import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { beginSession, request, send, stateless, toolCall } from './mcp-caller.ts'
import { ProxyStack, type AddedServer } from './proxy-stack.ts'
import {
  openEvents,
  respondAsServer,
  sendResult,
  startScriptedOrigin,
  type ScriptedOrigin,
  type Seen,
} from './scripted-origin.ts'

/* What one customer, or the customers of one server, can take of the proxy. */

let stack: ProxyStack
let origin: ScriptedOrigin
let server: AddedServer
let token: string
/** Calls of `search` that the origin has not answered. */
let open: { seen: Seen; response: ServerResponse }[]

beforeAll(async () => {
  stack = await ProxyStack.start({
    TOLLGATE_MCP_REQUESTS_PER_CUSTOMER_MAX: '2',
    TOLLGATE_MCP_REQUESTS_PER_SERVER_MAX: '3',
    TOLLGATE_MCP_REQUESTS_MAX: '4',
    TOLLGATE_MCP_STREAMS_PER_CUSTOMER_MAX: '1',
    TOLLGATE_MCP_CANCEL_GRACE_MS: '50',
    TOLLGATE_MCP_UNREAD_MS: '1000',
  })
  origin = await startScriptedOrigin()
  server = await stack.addServer({ originUrl: origin.url })
  token = await stack.token(server)
})

beforeEach(() => {
  stack.gate.reset()
  origin.seen.length = 0
  open = []
  const answer = respondAsServer()
  origin.respond = (seen, response) =>
    seen.message['method'] === 'tools/call' ? open.push({ seen, response }) : answer(seen, response)
})

afterAll(async () => {
  await stack.stop()
  await origin.stop()
})

function answerAll(): void {
  for (const { seen, response } of open.splice(0)) sendResult(response, seen, { content: [] })
}

/** Opens calls that the origin leaves without an answer, and waits until it has them. */
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

test('a customer with too many open requests gets errors of JSON-RPC, and others are served', async () => {
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
  // Nothing was admitted, so nothing is billed.
  expect(stack.gate.admitted).toHaveLength(2)
  const eve = await stack.token(server, { sub: 'cus_eve' })
  expect((await send(server.proxyUrl, eve, request(1, 'ping'))).body).toHaveProperty('result')
  answerAll()
  await calls.ended()
  const next = await send(server.proxyUrl, token, request(8, 'ping'), session)
  expect(next.body).toHaveProperty('result')
})

test('an answer that its client does not read keeps its place, until its connection is closed', async () => {
  const session = await beginSession(server.proxyUrl, token)
  const sockets = [1, 2].map((id) => callWithoutReading(toolCall(id), session))
  await expect.poll(() => open.length).toBe(2)
  // More than the systems on both sides take.
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

/** Sends a call, and reads no more than Node reads ahead. */
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

test('a probe of a customer with too many is 400, and a large request is 429', async () => {
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

test('a cancellation is let through, and ends what it cancels', async () => {
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

test('each request of a batch takes a place', async () => {
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

test('the customers of one server leave places to those of others, up to the limit of the process', async () => {
  const other = await stack.addServer({ originUrl: origin.url })
  const tokenOf = (at: AddedServer, sub: string) => stack.token(at, { sub })
  const first = await openCalls(2, server, await tokenOf(server, 'cus_1'))
  const second = await openCalls(1, server, await tokenOf(server, 'cus_2'))
  const refused = await send(server.proxyUrl, await tokenOf(server, 'cus_3'), toolCall(7))
  expect(refused.body).toMatchObject(tooMany(7, 'to this MCP server'))
  const third = await openCalls(1, other, await tokenOf(other, 'cus_3'))
  const last = await send(other.proxyUrl, await tokenOf(other, 'cus_4'), toolCall(7))
  expect(last.body).toMatchObject(tooMany(7, 'Too many requests are open'))
  answerAll()
  await Promise.all([first, second, third].map((calls) => calls.ended()))
})

test('callers without a token are counted by their address', async () => {
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

test('a customer has a limit of streams, which a stream in place of another does not meet', async () => {
  origin.respond = (seen, response) => {
    const { method, message } = seen
    if (method !== 'GET' && message['method'] !== 'subscriptions/listen') {
      return respondAsServer()(seen, response)
    }
    return openEvents(response)({ method: 'notifications/tools/list_changed' })
  }
  const sessions = [
    await beginSession(server.proxyUrl, token),
    await beginSession(server.proxyUrl, token),
  ] as const
  const streams: AbortController[] = []
  const openStream = async (init: RequestInit) => {
    const controller = new AbortController()
    streams.push(controller)
    const headers = { ...init.headers, authorization: `Bearer ${token}` }
    const { signal } = controller
    return (await fetch(server.proxyUrl, { ...init, headers, signal })).status
  }
  const accept = 'text/event-stream'
  const get = (session: object) => openStream({ headers: { ...session, accept } })
  const { body, headers } = stateless(1, 'subscriptions/listen')
  const listen = () =>
    openStream({
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        ...headers,
        'content-type': 'application/json',
        accept: `application/json, ${accept}`,
      },
    })
  expect(await get(sessions[0])).toBe(200)
  expect(await get(sessions[0])).toBe(200)
  expect(await get(sessions[1])).toBe(429)
  expect(await listen()).toBe(429)
  for (const controller of streams.splice(0)) controller.abort()
  await expect.poll(listen).toBe(200)
  expect(await get(sessions[1])).toBe(429)
  // It takes no place of requests.
  for (let id = 0; id < 2; id++) {
    expect((await send(server.proxyUrl, token, request(id, 'ping'))).body).toHaveProperty('result')
  }
  for (const controller of streams) controller.abort()
})
