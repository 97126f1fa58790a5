import type { JsonObject } from '@tollgate/schemas/json-object'
import { describe, expect, test } from 'vitest'
import { beginSession, request, send, stateless, toolCall } from './mcp-caller.ts'
import { openEvents, plainTools, respondAsServer, sendResult } from './scripted-origin.ts'
import { startScriptedServer } from './scripted-server.ts'

const { stack, origin, server, token } = await startScriptedServer({}, { originKey: 'origin-key' })

const url = server.proxyUrl

test("begins its own session around the origin's session", async () => {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} }
  const { status, headers, body } = await send(url, token, request(1, 'initialize', params))
  expect(status).toBe(200)
  expect(body['result']).toEqual({
    protocolVersion: '2025-06-18',
    capabilities: { logging: {}, tools: {} },
    serverInfo: { name: 'origin', version: '1' },
    instructions: 'Be kind.',
  })
  const id = headers.get('mcp-session-id')!
  expect(id).toMatch(/^[\w-]{50,4096}$/)
  expect(id).not.toContain('origin-session')
  await send(url, token, request(2, 'ping'), { 'mcp-session-id': id })
  expect(origin.seen[1]!.headers).toMatchObject({
    'mcp-session-id': 'origin-session-1',
    'mcp-protocol-version': '2025-06-18',
  })
})

test('lists and calls tools within a session, and settles a call by its result', async () => {
  const session = await beginSession(url, token)
  const listed = await send(url, token, request(1, 'tools/list'), session)
  const { tools } = listed.body['result'] as { tools: object[] }
  expect(tools).toEqual([...plainTools, { name: 'upgrade', inputSchema: { type: 'object' } }])
  const called = await send(url, token, toolCall(2, 'search', { q: 'x' }), session)
  expect(called.body).toMatchObject({ id: 2, result: { _meta: { kept: true } } })
  const [admitted] = stack.gate.admitted
  expect(admitted).toMatchObject({
    customerRef: 'cus_ada',
    toolName: 'search',
    client: { era: 'sessions', opensUrls: true, showsApps: false },
  })
  expect(origin.seen.at(-1)!.message['params']).toMatchObject({ arguments: { q: 'x' } })
  expect(stack.gate.settled).toMatchObject([{ outcome: 'success', callId: admitted!.callId }])
})

test('sends the origin its credentials and no headers of the client', async () => {
  const trace = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, baggage: 'k=v' }
  await send(url, token, request(1, 'ping'), { ...trace, cookie: 'a=b', 'x-other': '1' })
  const { headers } = origin.seen[0]!
  expect(headers).toMatchObject({ 'x-api-key': 'origin-key', ...trace })
  expect(headers).not.toHaveProperty('authorization')
  expect(headers).not.toHaveProperty('cookie')
  expect(headers).not.toHaveProperty('x-other')
})

test('lists and calls tools without a session, and marks lists as private', async () => {
  const list = stateless(1, 'tools/list')
  const listed = await send(url, token, list.body, list.headers)
  expect(listed.body['result']).toMatchObject({ cacheScope: 'private', ttlMs: 60_000 })
  const call = stateless(2, 'tools/call', { name: 'search', extra: null }, { elicitation: {} })
  const called = await send(url, token, call.body, { ...call.headers, 'mcp-param-q': 'x' })
  expect(called.body).toMatchObject({ id: 2, result: { resultType: 'complete' } })
  expect(origin.seen[1]!.message).toEqual(call.body)
  expect(origin.seen[1]!.headers).toMatchObject({ 'mcp-name': 'search', 'mcp-param-q': 'x' })
  expect(stack.gate.admitted[0]!.client).toEqual({
    era: 'stateless',
    opensUrls: false,
    showsApps: false,
  })
  expect(stack.gate.settled).toMatchObject([{ outcome: 'success' }])
})

test.each([
  ['a tool that failed', { result: { isError: true, content: [] } }],
  ['an error of JSON-RPC', { error: { code: -32_602, message: 'No such tool' } }],
])('settles %s as failed, and passes it on', async (_name, answer) => {
  origin.respond = ({ message }, response) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id: message['id'], ...answer }))
  const { body } = await send(url, token, toolCall('a'))
  expect(body).toEqual({ jsonrpc: '2.0', id: 'a', ...answer })
  expect(stack.gate.settled).toMatchObject([{ outcome: 'fail' }])
})

test.each([
  ['401', 401, 'text/plain', 'no', "The MCP server refused the proxy's credentials."],
  ['503', 503, 'text/plain', 'no', 'The MCP server answered with status 503.'],
  ['text', 200, 'text/html', '<p>', 'The MCP server answered with something that is not MCP.'],
  ['202', 202, 'text/plain', '', 'The MCP server did not answer the request.'],
])(
  'answers 200 with an error if the origin answers a call with %s',
  async (_name, status, type, text, reason) => {
    origin.respond = (_seen, response) =>
      response.writeHead(status, { 'content-type': type }).end(text)
    const answer = await send(url, token, toolCall(7))
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32_603, message: reason },
    })
    expect(stack.gate.settled).toMatchObject([{ outcome: 'fail' }])
  },
)

test('streams the messages before a response, without event ids', async () => {
  origin.respond = ({ message }, response) => {
    const emit = openEvents(response)
    const progress = { method: 'notifications/progress', params: { progressToken: 1, progress: 1 } }
    emit(progress, 'id: 1\nretry: 10\n')
    response.write(': comment\n\nid: 2\ndata:\n\n')
    emit({ id: message['id'], result: { content: [] } }, 'event: message\nid: 3\n')
    response.end()
  }
  const { headers, events, text } = await send(url, token, toolCall(3))
  expect(headers.get('x-accel-buffering')).toBe('no')
  expect(events).toMatchObject([{ method: 'notifications/progress' }, { id: 3, result: {} }])
  expect(text).not.toMatch(/^(id|retry):/m)
  expect(stack.gate.settled).toMatchObject([{ outcome: 'success' }])
})

test('answers an open request with an error if its stream ends without a response', async () => {
  origin.respond = (_seen, response) => {
    openEvents(response)({ method: 'notifications/message', params: {} })
    response.end()
  }
  const { events } = await send(url, token, toolCall(4))
  expect(events).toMatchObject([
    { method: 'notifications/message' },
    { id: 4, error: { message: 'The MCP server ended its answer without a response.' } },
  ])
  expect(stack.gate.settled).toMatchObject([{ outcome: 'fail' }])
})

test('resumes a stream that the origin closes after an event with an id', async () => {
  origin.respond = ({ method, headers, message }, response) => {
    const emit = openEvents(response)
    if (method === 'POST') {
      emit({ method: 'notifications/message', params: { of: message['id'] } }, 'id: e1\nretry: 5\n')
    } else emit({ id: 5, result: { resumedAfter: headers['last-event-id'] } })
    response.end()
  }
  const { events } = await send(url, token, toolCall(5))
  expect(events.at(-1)).toMatchObject({ id: 5, result: { resumedAfter: 'e1' } })
  expect(stack.gate.settled).toMatchObject([{ outcome: 'success' }])
})

test('ignores a response of the origin to another request than initialize', async () => {
  origin.respond = (_seen, response) => {
    const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 99, result }))
  }
  const { body, headers } = await send(url, token, request(1, 'initialize'))
  expect(body).toMatchObject({ id: 1, error: { code: -32_603 } })
  expect(headers.get('mcp-session-id')).toBeNull()
})

test('answers with a paywall without a request to the origin', async () => {
  const result = { content: [{ type: 'text', text: 'Upgrade' }], isError: false }
  stack.gate.decide = () => ({ kind: 'paywalled', answer: { kind: 'result', result } })
  const call = stateless(1, 'tools/call', { name: 'search' })
  const { body } = await send(url, token, call.body, call.headers)
  expect(body['result']).toEqual({ resultType: 'complete', ...result })
  expect(origin.seen).toEqual([])
})

test('answers virtual tools itself', async () => {
  const { body } = await send(url, token, toolCall(1, 'upgrade'))
  expect(body['result']).toEqual({ content: [{ type: 'text', text: 'upgrade of cus_ada' }] })
  expect(origin.seen).toEqual([])
})

const protocolMeta = 'io.modelcontextprotocol/protocolVersion'

test.each([
  ['without an id', { jsonrpc: '2.0', method: 'tools/call', params: { name: 'search' } }, {}],
  ['with null as its id', { ...toolCall(1), id: null }, {}],
  ['with an object as its id', { ...toolCall(1), id: {} }, {}],
  ['without an id in a batch', [{ ...toolCall(1), id: null }, toolCall(2)], {}],
  [
    'without an id in the newer version',
    { ...toolCall(1), id: null, params: { _meta: { [protocolMeta]: '2026-07-28' } } },
    { 'mcp-protocol-version': '2026-07-28' },
  ],
  [
    'that names two tools',
    JSON.stringify(toolCall(1)).replace('{"name"', '{"name":"a","name"'),
    {},
  ],
  ['that names a second one in another case', toolCall(1, 'search', {}, { Name: 'fetch' }), {}],
  ['that looks like a response', { jsonrpc: '2.0', id: 1, result: {}, Method: 'tools/call' }, {}],
  [
    'that is nested so deep that no record could be made of it',
    JSON.stringify(toolCall(1)).replace('{}', `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`),
    {},
  ],
])('refuses a call %s before the gate and the origin', async (_title, body, headers) => {
  const { status } = await send(url, token, body, headers)
  expect(status).toBe(400)
  expect(stack.gate.admitted).toEqual([])
  expect(origin.seen).toEqual([])
})

const views = {
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
}

/** Sends a request as a client of one era that announced its capabilities. */
type Ask = (method: string, params?: JsonObject) => Promise<JsonObject>

async function askIn(era: string, capabilities: JsonObject): Promise<Ask> {
  const session = era === 'sessions' ? await beginSession(url, token, capabilities) : {}
  return async (method, params = {}) => {
    const { body, headers } =
      era === 'sessions'
        ? { body: request(1, method, params), headers: session }
        : stateless(1, method, params, capabilities)
    return (await send(url, token, body, headers)).body
  }
}

/** Makes the origin answer with resources, some of which have URIs of the proxy. */
function respondWithResources(): void {
  const respond = respondAsServer()
  const own = [
    { uri: 'ui://tollgate/account', name: 'shadow' },
    { uri: 'UI://Tollgate/other', name: 'shadow' },
  ]
  origin.respond = (seen, response) => {
    const method = seen.message['method']
    if (method === 'resources/list') {
      const resources = [{ uri: 'file:///a', name: 'a' }, ...own]
      return sendResult(response, seen, { resultType: 'complete', resources })
    }
    if (method === 'resources/templates/list') {
      const resourceTemplates = [{ uriTemplate: 'ui://tollgate/{name}', name: 'shadow' }]
      return sendResult(response, seen, { resultType: 'complete', resourceTemplates })
    }
    return respond(seen, response)
  }
}

describe.each(['sessions', 'stateless'])('views (%s)', (era) => {
  const account = { uri: 'ui://tollgate/account' }

  test("are listed with the origin's resources for clients that show views", async () => {
    respondWithResources()
    const ask = await askIn(era, views)
    const { result: listed } = await ask('resources/list')
    expect(listed).toMatchObject({
      resources: [{ uri: 'file:///a' }, { ...account, name: 'account' }],
    })
    const { result: templates } = await ask('resources/templates/list')
    expect(templates).toMatchObject({ resourceTemplates: [] })
    const { result: read } = await ask('resources/read', account)
    const csp = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] }
    const text = expect.stringContaining('ui/open-link') as string
    const mimeType = 'text/html;profile=mcp-app'
    expect(read).toMatchObject({
      contents: [{ ...account, mimeType, text, _meta: { ui: { csp } } }],
    })
    expect(origin.seen.map(({ message }) => message['method'])).not.toContain('resources/read')
    if (era === 'stateless') {
      expect(read).toMatchObject({ resultType: 'complete', cacheScope: 'private', ttlMs: 60_000 })
    }
  })

  test('are not listed for other clients, and never come from the origin', async () => {
    respondWithResources()
    const ask = await askIn(era, {})
    expect((await ask('resources/list'))['result']).toMatchObject({
      resources: [{ uri: 'file:///a' }],
    })
    const seen = origin.seen.length
    const code = era === 'sessions' ? -32_002 : -32_602
    for (const uri of ['ui://tollgate/account', 'ui://tollgate/x', 'UI://TOLLGATE']) {
      expect(await ask('resources/read', { uri })).toMatchObject({ error: { code } })
    }
    expect(origin.seen.length).toBe(seen)
  })

  test('are listed even if the origin has no resources', async () => {
    const respond = respondAsServer()
    origin.respond = (seen, response) => {
      if (!String(seen.message['method']).startsWith('resources/')) return respond(seen, response)
      response.writeHead(era === 'sessions' ? 200 : 404, { 'content-type': 'application/json' })
      const error = { code: -32_601, message: 'Method not found' }
      return response.end(JSON.stringify({ jsonrpc: '2.0', id: seen.message['id'], error }))
    }
    const ask = await askIn(era, views)
    expect((await ask('resources/list'))['result']).toMatchObject({ resources: [account] })
    expect((await ask('resources/templates/list'))['result']).toMatchObject({
      resourceTemplates: [],
    })
    const code = era === 'sessions' ? -32_002 : -32_602
    expect(await ask('resources/read', { uri: 'file:///a' })).toMatchObject({ error: { code } })
    const other = await askIn(era, {})
    expect(await other('resources/list')).toMatchObject({ error: { code: -32_601 } })
  })

  test('are announced to clients that show views', async () => {
    const capabilitiesFor = async (capabilities: JsonObject) => {
      const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: {} }
      const { body, headers } =
        era === 'sessions'
          ? { body: request(1, 'initialize', params), headers: {} }
          : stateless(1, 'server/discover', {}, capabilities)
      const { body: answer } = await send(url, token, body, headers)
      return (answer['result'] as JsonObject)['capabilities']
    }
    const extensions = { 'io.modelcontextprotocol/ui': {} }
    expect(await capabilitiesFor(views)).toMatchObject({ resources: {}, extensions })
    const plain = await capabilitiesFor({})
    expect(plain).not.toHaveProperty('resources')
    expect(plain).not.toHaveProperty('extensions')
  })
})
