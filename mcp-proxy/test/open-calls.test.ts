import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { beginSession, request, send, sendTo, toolCall } from './mcp-caller.ts'
import { openEvents, sendResult, type Seen } from './scripted-origin.ts'
import { startScriptedServer } from './scripted-server.ts'

/* Requests of sessions that are in progress: their ids, and ends other than an answer. */

const settings = {
  TOLLGATE_MCP_CANCEL_GRACE_MS: '50',
  TOLLGATE_MCP_ORIGIN_SILENCE_MS: '2000',
}

const { stack, origin, server, token } = await startScriptedServer(settings)

/** Port of a second proxy process, which begins no sessions. */
const { port: replica } = await stack.startProxy({ ...settings, TOLLGATE_MCP_PORT: '0' })

const url = server.proxyUrl

/** Ways in which servers end an unfinished answer without a response when a session or a call ends. */
const endings: [
  name: string,
  end: (emit: ReturnType<typeof openEvents>, answer: ServerResponse) => unknown,
][] = [
  ['closes its answer', (_emit, answer) => answer.end()],
  ['breaks its answer off', (_emit, answer) => answer.destroy()],
  ['leaves it without an answer', () => undefined],
  [
    'answers it with an error',
    (emit) => emit({ id: 'slow', error: { code: 0, message: 'Request cancelled' } }),
  ],
]
const cancelled = {
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId: 'slow' },
}

test.each(
  endings.flatMap(([name, end]) => [
    ['DELETE of its session', name, end] as const,
    ['notification', name, end] as const,
  ]),
)('cancels a call by a %s, even if the origin %s', async (how, _name, end) => {
  const session = await beginSession(url, token)
  let call: [ReturnType<typeof openEvents>, ServerResponse] | undefined
  origin.respond = ({ message }, response) => {
    if (message['method'] === 'tools/call') return (call = [openEvents(response), response])
    end(...call!)
    return response.writeHead(202).end()
  }
  const calling = send(url, token, toolCall('slow'), session)
  await vi.waitFor(() => expect(call).toBeDefined())
  const isEnd = how === 'DELETE of its session'
  await send(url, token, isEnd ? undefined : cancelled, session, isEnd ? 'DELETE' : 'POST')
  expect((await calling).body).toMatchObject({ id: 'slow', error: {} })
  expect(stack.gate.settled).toMatchObject([
    { outcome: 'fail', isCancelled: true, isAccepted: true },
  ])
})

test('does not send a call that a notification cancels during its admission', async () => {
  const session = await beginSession(url, token)
  origin.seen.length = 0
  let admit = (): void => undefined
  stack.gate.decide = () => new Promise((resolve) => (admit = () => resolve(undefined)))
  const calling = send(url, token, toolCall('slow'), session)
  await vi.waitFor(() => expect(stack.gate.admitted).toHaveLength(1))
  await send(url, token, cancelled, session)
  admit()
  expect((await calling).body).toMatchObject({ id: 'slow', error: {} })
  expect(origin.seen.map(({ message }) => message['method'])).not.toContain('tools/call')
  expect(stack.gate.settled).toMatchObject([
    { outcome: 'fail', isCancelled: true, isAccepted: false },
  ])
})

test('bills a call that the origin answers although its session was ended', async () => {
  const session = await beginSession(url, token)
  let answer = (): void => undefined
  origin.respond = (seen, response) => {
    if (seen.method !== 'DELETE')
      return (answer = () => sendResult(response, seen, { content: [] }))
    answer()
    return response.writeHead(200).end()
  }
  const calling = send(url, token, toolCall(1), session)
  await vi.waitFor(() => expect(origin.seen.at(-1)!.message['method']).toBe('tools/call'))
  await send(url, token, undefined, session, 'DELETE')
  expect((await calling).body).toHaveProperty('result')
  expect(stack.gate.settled).toMatchObject([{ outcome: 'success' }])
})

test('does not initialize a session again for open calls after the client has ended it', async () => {
  const session = await beginSession(url, token)
  origin.seen.length = 0
  let refuse = (): void => undefined
  origin.respond = ({ method }, response) => {
    if (method !== 'DELETE') return (refuse = () => void response.writeHead(404).end())
    return response.writeHead(200).end()
  }
  const calling = send(url, token, toolCall(1), session)
  await vi.waitFor(() => expect(origin.seen.at(-1)!.message['method']).toBe('tools/call'))
  await send(url, token, undefined, session, 'DELETE')
  refuse()
  expect((await calling).body).toHaveProperty('error')
  expect(origin.seen.map(({ message }) => message['method'])).not.toContain('initialize')
  expect(stack.gate.settled).toMatchObject([{ outcome: 'fail' }])
})

test('sends different ids to the origin if two replicas use the same id at once', async () => {
  const session = await beginSession(url, token)
  const calls: { seen: Seen; response: ServerResponse }[] = []
  origin.respond = (seen, response) => {
    if (seen.message['id'] === undefined) return response.writeHead(202).end()
    return calls.push({ seen, response })
  }
  const paid = send(url, token, toolCall(7), session)
  await vi.waitFor(() => expect(calls.length).toBe(1))
  // A number of JavaScript cannot represent 20 digits exactly.
  const text = JSON.stringify(toolCall(7, 'fetch', { id: 1, big: 0 })).replace(
    '"big":0',
    '"big":12345678901234567890',
  )
  const free = sendTo(replica, url, token, text, session)
  await vi.waitFor(() => expect(calls.length).toBe(2))
  const [first, second] = calls
  expect(first!.seen.message['id']).toBe(7)
  expect(second!.seen.message['id']).not.toBe(7)
  expect(second!.seen.text).toContain('"big":12345678901234567890')
  const emit = openEvents(second!.response)
  // Servers send a result to the most recent request with its id.
  emit({ id: 7, result: { content: ['paid'] } })
  emit({ id: second!.seen.message['id'], result: { id: 1, content: ['free'] } })
  second!.response.end()
  expect((await free).events).toEqual([
    { jsonrpc: '2.0', id: 7, result: { id: 1, content: ['free'] } },
  ])
  sendResult(first!.response, first!.seen, { content: ['paid'] })
  expect((await paid).body).toMatchObject({ id: 7, result: { content: ['paid'] } })
})

test("cancels a call by the origin's id from a replica that did not begin the session", async () => {
  const session = await beginSession(url, token)
  origin.respond = ({ message }, response) =>
    message['id'] === undefined ? response.writeHead(202).end() : openEvents(response)
  const calling = sendTo(replica, url, token, toolCall('slow'), session)
  await vi.waitFor(() => expect(origin.seen.at(-1)!.message['method']).toBe('tools/call'))
  const { id } = origin.seen.at(-1)!.message
  // The process that began the session does not know the call, and the server does not know the client's id of it.
  await send(url, token, cancelled, session)
  expect(origin.seen.at(-1)!.message).toEqual(cancelled)
  await sendTo(replica, url, token, cancelled, session)
  expect(origin.seen.at(-1)!.message).toMatchObject({ params: { requestId: id } })
  expect((await calling).body).toMatchObject({ id: 'slow', error: { code: -32_603 } })
  expect(stack.gate.settled).toMatchObject([{ isCancelled: true, isAccepted: true }])
})

test.each(['under way', 'cancelled'])('does not reuse the id of a call that is %s', async (how) => {
  const session = await beginSession(url, token)
  origin.respond = ({ message }, response) =>
    message['id'] === undefined ? response.writeHead(202).end() : openEvents(response)
  const calling = send(url, token, toolCall(7), session)
  await vi.waitFor(() => expect(origin.seen.at(-1)!.message['id']).toBe(7))
  const cancel = { method: 'notifications/cancelled', params: { requestId: 7 } }
  const end = () => send(url, token, { jsonrpc: '2.0', ...cancel }, session)
  if (how === 'cancelled') await end().then(() => calling)
  const before = origin.seen.length
  const { body } = await send(url, token, request(7, 'resources/list'), session)
  expect(body).toMatchObject({ id: 7, error: { code: -32_603 } })
  expect(origin.seen.length).toBe(before)
  if (how === 'under way') await end().then(() => calling)
})

test('bills a call whose client disconnects without cancelling it', async () => {
  const session = await beginSession(url, token)
  let answer = (): void => undefined
  const mayAnswer = new Promise<void>((resolve) => (answer = resolve))
  origin.respond = async (seen, response) => {
    await mayAnswer
    sendResult(response, seen, { content: [] })
  }
  const going = new AbortController()
  const calling = fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...session },
    body: JSON.stringify(toolCall(1)),
    signal: going.signal,
  }).catch(() => undefined)
  await vi.waitFor(() => expect(origin.seen.at(-1)!.message['method']).toBe('tools/call'))
  going.abort()
  await calling
  // Wait until the proxy has noticed that the client disconnected.
  await delay(50)
  expect(stack.gate.settled).toEqual([])
  answer()
  await vi.waitFor(() => expect(stack.gate.settled).toMatchObject([{ outcome: 'success' }]))
})

/** Sends bytes until the proxy closes the connection. */
function sendWithoutEnd(response: ServerResponse): void {
  const timer = setInterval(() => response.write('\n'), 20)
  response.once('close', () => clearInterval(timer))
}

test.each([
  ['answers nothing', () => undefined],
  ['never ends its answer', sendWithoutEnd],
])('limits the wait for a server that %s to the end of a session', async (_how, end) => {
  const session = await beginSession(url, token)
  origin.respond = (_seen, response) => end(response)
  expect((await send(url, token, undefined, session, 'DELETE')).status).toBe(202)
})

test('does not send a call to its server if its session ends before it is admitted', async () => {
  const session = await beginSession(url, token)
  let admit = (): void => undefined
  stack.gate.decide = () => new Promise((resolve) => (admit = () => resolve(undefined)))
  const calling = send(url, token, toolCall(1), session)
  await vi.waitFor(() => expect(stack.gate.admitted).toHaveLength(1))
  await send(url, token, undefined, session, 'DELETE')
  origin.seen.length = 0
  admit()
  expect((await calling).body).toMatchObject({ id: 1, error: {} })
  expect(origin.seen).toEqual([])
  expect(stack.gate.settled).toMatchObject([
    { outcome: 'fail', isCancelled: true, isAccepted: false },
  ])
})

test('ends a call that waits for its session to be initialized again', async () => {
  const session = await beginSession(url, token)
  let initializing: ServerResponse | undefined
  origin.respond = ({ message }, response) => {
    if (message['id'] === undefined) return response.writeHead(202).end()
    if (message['method'] === 'tools/call') return response.writeHead(404).end()
    openEvents(response)
    sendWithoutEnd(response)
    return (initializing = response)
  }
  const calling = send(url, token, toolCall('slow'), session)
  await vi.waitFor(() => expect(initializing).toBeDefined())
  await send(url, token, cancelled, session)
  expect((await calling).body).toMatchObject({ id: 'slow', error: {} })
  expect(stack.gate.settled).toMatchObject([{ outcome: 'fail', isCancelled: true }])
  initializing!.end()
})
