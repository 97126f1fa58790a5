import type { JsonObject } from '@tollgate/schemas/json-object'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import type { CallEnd } from '../src/gate/gate.ts'
import { readUntil, send, stateless } from './mcp-caller.ts'
import { openEvents, sendResult } from './scripted-origin.ts'
import { startScriptedServer } from './scripted-server.ts'

const settings = { TOLLGATE_MCP_FRESH_MS: '100' }

const { stack, origin, server, token } = await startScriptedServer(settings)

/** Sends a call whose client disconnects as soon as the origin has received it. */
async function disconnect(params: JsonObject): Promise<void> {
  const going = new AbortController()
  const { body, headers } = stateless(1, 'tools/call', params)
  const calling = fetch(server.proxyUrl, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body: JSON.stringify(body),
    signal: going.signal,
  }).catch(() => undefined)
  await vi.waitFor(() => expect(origin.seen.length).toBe(1))
  going.abort()
  await calling
}

test.each([
  ['a result', {}, { isCancelled: true, isAnswered: true }],
  ['a failure', { isError: true }, { outcome: 'fail', reason: 'the tool failed' }],
])('settles %s that arrives after the client disconnected', async (_name, result, end) => {
  let answer = (): void => undefined
  const mayAnswer = new Promise<void>((resolve) => (answer = resolve))
  origin.respond = async (seen, response) => {
    await mayAnswer
    sendResult(response, seen, { resultType: 'complete', content: [], ...result })
  }
  await disconnect({ name: 'search' })
  // Wait until the proxy has noticed that the client disconnected.
  await delay(50)
  answer()
  await vi.waitFor(() => expect(stack.gate.settled).toMatchObject([end]))
})

test('sends no request to the origin if the client disconnects before admission', async () => {
  let admit = (): void => undefined
  const mayAdmit = new Promise<void>((resolve) => (admit = resolve))
  const admitting = vi.spyOn(stack.gate, 'admit')
  const settled: CallEnd[] = []
  admitting.mockImplementationOnce(async () => {
    await mayAdmit
    return { kind: 'admitted', settle: (end) => void settled.push(end) }
  })
  const going = new AbortController()
  const { body, headers } = stateless(1, 'tools/call', { name: 'search' })
  const calling = fetch(server.proxyUrl, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body: JSON.stringify(body),
    signal: going.signal,
  }).catch(() => undefined)
  await vi.waitFor(() => expect(admitting).toHaveBeenCalled())
  going.abort()
  await calling
  await delay(50)
  admit()
  await vi.waitFor(() => expect(settled).toMatchObject([{ isCancelled: true, isAccepted: false }]))
  expect(origin.seen).toEqual([])
})

test.each([
  ['included', true],
  ['not included', false],
])(
  'announces configured changes only to a client whose subscription includes tools (%s)',
  async (_name, includesTools) => {
    const changing = await stack.addServer({ originUrl: origin.url })
    const filter = { notifications: { toolsListChanged: includesTools } }
    let emit: ReturnType<typeof openEvents> | undefined
    origin.respond = (_seen, response) => {
      emit = openEvents(response)
      emit({ method: 'notifications/subscriptions/acknowledged', params: filter })
    }
    const { body, headers } = stateless('listen-1', 'subscriptions/listen', filter)
    const answer = await fetch(changing.proxyUrl, {
      method: 'POST',
      headers: { authorization: `Bearer ${await stack.token(changing)}`, ...headers },
      body: JSON.stringify(body),
    })
    await vi.waitFor(() => expect(emit).toBeDefined())
    await stack.mapTool(changing, 'search', 'public')
    await delay(500)
    emit!({ method: 'notifications/message', params: { level: 'info', data: 'end' } })
    const text = await readUntil(answer, 'notifications/message')
    const notified = text.includes('notifications/tools/list_changed')
    expect(notified).toBe(includesTools)
    expect(text.includes('"io.modelcontextprotocol/subscriptionId":"listen-1"')).toBe(includesTools)
  },
)

test('drops a response to another request than the call', async () => {
  origin.respond = (seen, response) => {
    const write = openEvents(response)
    write({ id: '1', result: { content: [{ type: 'text', text: 'uncounted' }] } })
    write({ id: seen.message['id'], result: { resultType: 'complete', content: [] } })
    response.end()
  }
  const { body, headers } = stateless(1, 'tools/call', { name: 'search' })
  const { text, events } = await send(server.proxyUrl, token, body, headers)
  expect(events).toHaveLength(1)
  expect(text).not.toContain('uncounted')
})

test("cancels a stateless call when its client disconnects, and closes the origin's connection", async () => {
  let isClosed = false
  origin.respond = (_seen, response) => {
    openEvents(response)
    response.on('close', () => (isClosed = true))
  }
  const going = new AbortController()
  const { body, headers } = stateless(1, 'tools/call', { name: 'search' })
  const calling = fetch(server.proxyUrl, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body: JSON.stringify(body),
    signal: going.signal,
  })
  await calling
  going.abort()
  await vi.waitFor(() => expect(isClosed).toBe(true))
  await vi.waitFor(() =>
    expect(stack.gate.settled).toMatchObject([{ outcome: 'fail', isCancelled: true }]),
  )
})

test.each([
  [
    'a legacy server that knows no such request',
    400,
    { code: -32_000, message: 'No session' },
    400,
  ],
  ['a server without that method', 404, { code: -32_601, message: 'Unknown' }, 404],
  ['a legacy server that answers 200', 200, { code: -32_601, message: 'Unknown' }, 400],
  ['a server that is down', 503, {}, 400],
  ["a server that refuses the proxy's credentials", 401, {}, 400],
])('lets a client that probes %s fall back to sessions', async (_name, status, error, expected) => {
  origin.respond = ({ message }, response) =>
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id: message['id'], error }))
  const { body, headers } = stateless(1, 'server/discover')
  const answer = await send(server.proxyUrl, token, body, headers)
  expect(answer.status).toBe(expected)
  expect(answer.body).toHaveProperty('error')
})

test('offers only capabilities in discovery that the proxy supports', async () => {
  origin.respond = (seen, response) =>
    sendResult(response, seen, {
      resultType: 'complete',
      supportedVersions: ['2026-07-28', '2099-01-01'],
      capabilities: { prompts: {}, extensions: { 'io.modelcontextprotocol/tasks': {}, other: {} } },
      instructions: 'Be kind.',
      cacheScope: 'public',
    })
  const { body, headers } = stateless(1, 'server/discover')
  const discovered = await send(server.proxyUrl, token, body, headers)
  expect(discovered.body['result']).toEqual({
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: { prompts: {}, tools: {}, extensions: { other: {} } },
    instructions: 'Be kind.',
    cacheScope: 'private',
  })
})
