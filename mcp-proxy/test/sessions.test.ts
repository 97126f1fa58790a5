import { setTimeout as delay } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { beginSession, readUntil, request, send, toolCall } from './mcp-caller.ts'
import { openEvents, respondAsServer, sendResult, type Respond } from './scripted-origin.ts'
import { startScriptedServer } from './scripted-server.ts'

const settings = {
  TOLLGATE_MCP_FRESH_MS: '100',
  TOLLGATE_MCP_CANCEL_GRACE_MS: '50',
  TOLLGATE_MCP_KEEP_ALIVE_MS: '40',
}

const { stack, origin, server, token } = await startScriptedServer(settings)

const url = server.proxyUrl

/** Returns a restarted server that only knows the most recent session. */
function respondAfterRestart(session: string, refuse: Respond): Respond {
  const respond = respondAsServer(session)
  return (seen, response) => {
    const isKnown = seen.headers['mcp-session-id'] === session
    const isFirst = seen.message['method'] === 'initialize'
    return isKnown || isFirst ? respond(seen, response) : refuse(seen, response)
  }
}

const refusals: [name: string, refuse: Respond][] = [
  ['404', (_seen, response) => response.writeHead(404).end()],
  [
    '400 about the session',
    (_seen, response) =>
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end('{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No valid session ID"}}'),
  ],
]

test.each(refusals)(
  'initializes the session again after the origin restarted (%s)',
  async (name, refuse) => {
    const session = await beginSession(url, token)
    origin.respond = respondAfterRestart(`after ${name}`.replaceAll(' ', '-'), refuse)
    origin.seen.length = 0
    const { status, body } = await send(url, token, toolCall(9), session)
    expect([status, body]).toMatchObject([200, { id: 9, result: {} }])
    expect(origin.seen.map(({ message }) => message['method'])).toEqual([
      ...['tools/call', 'initialize', 'notifications/initialized', 'tools/call'],
    ])
    expect(origin.seen[1]!.message['params']).toMatchObject({
      capabilities: { elicitation: { url: {} } },
      clientInfo: { name: 'test' },
    })
    expect(stack.gate.settled).toMatchObject([{ outcome: 'success' }])
    // The client's session id does not change, and the proxy remembers the new session.
    origin.seen.length = 0
    await send(url, token, request(10, 'ping'), session)
    expect(origin.seen.length).toBe(1)
  },
)

test('begins one new session for several requests that find the session lost', async () => {
  const session = await beginSession(url, token)
  origin.respond = respondAfterRestart('one-for-all', refusals[0]![1])
  origin.seen.length = 0
  const calls = [1, 2, 3, 4].map((id) => send(url, token, toolCall(id), session))
  for (const { body } of await Promise.all(calls)) expect(body).toHaveProperty('result')
  const begun = origin.seen.filter(({ message }) => message['method'] === 'initialize')
  expect(begun.length).toBe(1)
})

const big = '9007199254740993'

test("keeps the client's digits when it initializes a session again", async () => {
  const params = `{"protocolVersion":"2025-11-25","capabilities":{"experimental":{"a":${big}}},"clientInfo":{}}`
  const body = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":${params}}`
  const sessionId = (await send(url, token, body)).headers.get('mcp-session-id')!
  origin.respond = respondAfterRestart('for-big-numbers', refusals[0]![1])
  origin.seen.length = 0
  await send(url, token, request(1, 'ping'), { 'mcp-session-id': sessionId })
  expect(origin.seen[1]!.text).toContain(`"params":${params}`)
})

test('continues a session at another replica, even after the origin restarted', async () => {
  const session = await beginSession(url, token)
  await stack.restartProxy(settings)
  expect((await send(url, token, request(1, 'ping'), session)).status).toBe(200)
  origin.respond = respondAfterRestart('for-the-replica', refusals[0]![1])
  expect((await send(url, token, request(2, 'ping'), session)).status).toBe(200)
})

test('answers 404 for a session that is unknown, altered or of another customer', async () => {
  const session = await beginSession(url, token)
  const id = session['mcp-session-id']!
  const other = await stack.token(server, { sub: 'cus_eve' })
  const flipped = id.startsWith('A') ? `B${id.slice(1)}` : `A${id.slice(1)}`
  for (const [bearer, sessionId] of [
    [other, id],
    [token, flipped],
    [token, 'origin-session-1'],
  ] as const) {
    const headers = { 'mcp-session-id': sessionId }
    expect((await send(url, bearer, toolCall(1), headers)).status).toBe(404)
    expect((await send(url, bearer, undefined, headers, 'GET')).status).toBe(404)
  }
  const sibling = await stack.addServer({ originUrl: origin.url })
  const siblingToken = await stack.token(sibling)
  expect((await send(sibling.proxyUrl, siblingToken, request(1, 'ping'), session)).status).toBe(404)
})

test('ends a session at the origin on DELETE, after which it is unknown', async () => {
  const session = await beginSession(url, token)
  await send(url, token, undefined, session, 'DELETE')
  expect(origin.seen.at(-1)).toMatchObject({
    method: 'DELETE',
    headers: { 'mcp-session-id': 'origin-session-1' },
  })
  expect((await send(url, token, request(1, 'ping'), session)).status).toBe(404)
})

test('answers GET and DELETE without a session with 405', async () => {
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const { status, headers } = await send(url, token, undefined, {}, method)
    expect([status, headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
  }
})

test("streams requests of the origin, and forwards the client's responses", async () => {
  const session = await beginSession(url, token)
  origin.respond = (seen, response) => {
    if (seen.method !== 'GET') return response.writeHead(202).end()
    const emit = openEvents(response)
    // The result of a call is dropped on this stream, because it would not be counted here.
    emit({ id: 1, result: { content: [] } })
    emit({ id: 'ask', method: 'elicitation/create', params: {} }, 'id: 1\n')
    return setTimeout(() => response.destroy(), 100)
  }
  const { events, text } = await send(url, token, undefined, session, 'GET')
  expect(events).toEqual([{ jsonrpc: '2.0', id: 'ask', method: 'elicitation/create', params: {} }])
  expect(text).toContain(': keep-alive')
  const answer = { jsonrpc: '2.0', id: 'ask', result: { action: 'accept' } }
  const { status } = await send(url, token, answer, session)
  expect(status).toBe(202)
  expect(origin.seen.at(-1)!.message).toEqual(answer)
})

test("delays a tool call until the session's event stream to the origin is open", async () => {
  const session = await beginSession(url, token)
  const order: string[] = []
  origin.respond = async (seen, response) => {
    if (seen.method === 'POST') {
      order.push('called')
      return sendResult(response, seen, { content: [] })
    }
    await delay(100)
    order.push('opened')
    const emit = openEvents(response)
    return emit({ method: 'notifications/message', params: { level: 'info', data: 'end' } })
  }
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}`, ...session }
  const opening = fetch(url, { headers })
  await vi.waitFor(() => expect(origin.seen.at(-1)!.method).toBe('GET'))
  await send(url, token, toolCall(1), session)
  expect(order).toEqual(['opened', 'called'])
  await readUntil(await opening, 'notifications/message')
})

test('announces a configured change of the tool list once', async () => {
  const changing = await stack.addServer({ originUrl: origin.url })
  const bearer = await stack.token(changing)
  const session = await beginSession(changing.proxyUrl, bearer)
  let emit: ReturnType<typeof openEvents> | undefined
  origin.respond = (_seen, response) => (emit = openEvents(response))
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${bearer}`, ...session }
  const answer = await fetch(changing.proxyUrl, { headers })
  await stack.mapTool(changing, 'search', 'plans')
  await delay(300)
  await stack.mapTool(changing, 'search', 'public')
  await delay(400)
  emit!({ method: 'notifications/message', params: { level: 'info', data: 'end' } })
  const text = await readUntil(answer, 'notifications/message')
  // The tool was already protected before the first change, so that change did not affect the list.
  expect(text.match(/notifications\/tools\/list_changed/g)).toHaveLength(1)
})

test('keeps a slow response open with comments', async () => {
  origin.respond = async (seen, response) => {
    await delay(150)
    sendResult(response, seen, { content: [] })
  }
  const { text, events } = await send(url, token, toolCall(1))
  expect(text).toMatch(/^: keep-alive\n\n/)
  expect(events).toMatchObject([{ id: 1, result: {} }])
})

test('ends a request in time, even if its server keeps sending and its client does not read', async () => {
  await stack.restartProxy({ ...settings, TOLLGATE_MCP_CALL_MS: '1000' })
  let open = 0
  origin.respond = ({ message }, response) => {
    const emit = openEvents(response)
    // Send enough to fill all buffers between the proxy and a client that does not read, so that the proxy waits for the client.
    const data = 'x'.repeat(message['id'] === 'idle' ? 1_000_000 : 1)
    open++
    const timer = setInterval(() => {
      if (!response.writableNeedDrain) emit({ method: 'notifications/message', params: { data } })
    }, 5)
    response.on('close', () => {
      open--
      clearInterval(timer)
    })
  }
  const headers = { authorization: `Bearer ${token}` }
  const start = (id: string, signal?: AbortSignal) => {
    const body = JSON.stringify(toolCall(id))
    return fetch(url, { method: 'POST', headers, body, ...(signal && { signal }) })
  }
  const going = new AbortController()
  const uncounted = send(url, token, request('list', 'resources/list'))
  const idle = await start('idle')
  await start('gone', going.signal)
  going.abort()
  const ended = { outcome: 'fail', reason: 'The MCP server did not finish its answer in time.' }
  await vi.waitFor(() => expect(stack.gate.settled).toMatchObject([ended, ended]), 3_000)
  expect((await uncounted).body).toMatchObject({ id: 'list', error: {} })
  await vi.waitFor(() => expect(open).toBe(0))
  await idle.body!.cancel()
})

test('settles each call of a batch separately', async () => {
  origin.respond = (seen, response) => {
    const { name } = seen.message['params'] as { name?: string }
    if (name === undefined) return response.writeHead(202).end()
    return sendResult(response, seen, { isError: name === 'bad', content: [] })
  }
  const batch = [
    toolCall(1, 'good'),
    toolCall(2, 'bad'),
    { jsonrpc: '2.0', method: 'notifications/n', params: {} },
  ]
  const { text } = await send(url, token, batch, { 'mcp-protocol-version': '2025-03-26' })
  expect(JSON.parse(text)).toMatchObject([{ id: 1 }, { id: 2 }])
  const outcomes = stack.gate.settled.map(({ toolName, outcome }) => [toolName, outcome])
  expect(outcomes.sort()).toEqual([
    ['bad', 'fail'],
    ['good', 'success'],
  ])
})

const older = { 'mcp-protocol-version': '2025-03-26' }

test('keeps the digits of the numbers in a batch', async () => {
  const session = await beginSession(url, token)
  const texts = [
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"a":${big}}}}`,
    `{"jsonrpc":"2.0","method":"notifications/n","params":{"b":[${big},"]"]}}`,
    `{"jsonrpc":"2.0","id":"asked","result":{"c":${big}}}`,
  ]
  origin.seen.length = 0
  await send(url, token, `[ ${texts.join(' ,\n')} ]`, { ...session, ...older })
  for (const text of texts) expect(origin.seen.map((each) => each.text)).toContain(text)
  // Single notifications and responses are forwarded in the same way.
  origin.seen.length = 0
  for (const text of texts.slice(1)) await send(url, token, text, session)
  expect(origin.seen.map(({ text }) => text)).toEqual(texts.slice(1))
})

test('answers and records the other requests of a batch if one fails', async () => {
  let answer = (): void => undefined
  const mayAnswer = new Promise<void>((resolve) => (answer = resolve))
  origin.respond = async (seen, response) => {
    if (seen.message['id'] === 3) await mayAnswer
    return sendResult(response, seen, { content: [], tools: [] })
  }
  vi.spyOn(stack.gate, 'adaptTools').mockImplementationOnce(() => {
    throw new Error('the list cannot be adapted')
  })
  const batch = [toolCall(1), request(2, 'tools/list'), toolCall(3)]
  const sending = send(url, token, batch, older)
  // A call in a batch is recorded when its own answer arrives, whatever happens to the others.
  await vi.waitFor(() => expect(stack.gate.settled).toMatchObject([{ outcome: 'success' }]))
  answer()
  const { text } = await sending
  expect(JSON.parse(text)).toMatchObject([
    { id: 1, result: {} },
    { id: 2, error: { code: -32_603 } },
    { id: 3, result: {} },
  ])
  expect(stack.gate.settled).toMatchObject([{ outcome: 'success' }, { outcome: 'success' }])
})

test("keeps the origin's digits in lists that the proxy changes", async () => {
  origin.respond = (_seen, response) => {
    const tools = `[{"name":"search","inputSchema":{"maximum":${big}}}]`
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(`{"jsonrpc":"2.0","id":1,"result":{"tools":${tools}}}`)
  }
  const { text } = await send(url, token, request(1, 'tools/list'))
  expect(text).toContain(`"maximum":${big}`)
  expect(text).toContain('"name":"upgrade"')
})
