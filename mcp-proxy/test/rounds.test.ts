import type { JsonObject } from '@tollgate/schemas/json-object'
import { expect, test } from 'vitest'
import { send, stateless } from './mcp-caller.ts'
import { sendResult } from './scripted-origin.ts'
import { startScriptedServer } from './scripted-server.ts'

const settings = { TOLLGATE_MCP_FRESH_MS: '100' }

const { stack, origin, server, token } = await startScriptedServer(settings)

async function call(params: JsonObject, bearer = token, capabilities: JsonObject = {}) {
  const { body, headers } = stateless(1, 'tools/call', params, capabilities)
  return send(server.proxyUrl, bearer, body, headers)
}

const resultOf = ({ body }: { body: JsonObject }) => body['result'] as JsonObject

/** Makes the origin ask twice for input, each time with another state, and then answer. */
function requireInputTwice(): void {
  origin.respond = (seen, response) => {
    const { requestState } = seen.message['params'] as JsonObject
    const next = { undefined: 'one', one: 'two' }[String(requestState)]
    const request = { resultType: 'input_required', inputRequests: { q: {} }, requestState: next }
    return sendResult(response, seen, next === undefined ? { resultType: 'complete' } : request)
  }
}

test('settles a call that asks for input once, at its final result', async () => {
  requireInputTwice()
  const params = { name: 'search', arguments: { a: 1, b: { c: [] } } }
  const first = resultOf(await call(params))
  expect(first).toMatchObject({ resultType: 'input_required', inputRequests: { q: {} } })
  expect(first['requestState']).not.toContain('one')
  const answered = { inputResponses: { q: { action: 'accept' } } }
  const second = resultOf(
    await call({ ...params, ...answered, requestState: first['requestState'] }),
  )
  const reordered = { name: 'search', arguments: { b: { c: [] }, a: 1 } }
  const third = await call({ ...reordered, ...answered, requestState: second['requestState'] })
  expect(resultOf(third)).toEqual({ resultType: 'complete' })
  expect(origin.seen.at(-1)!.message['params']).toMatchObject({ requestState: 'two', ...answered })
  const outcomes = stack.gate.settled.map(({ outcome }) => outcome)
  expect(outcomes).toEqual(['interim', 'interim', 'success'])
})

test('counts a repeated state as another call, also at another process', async () => {
  requireInputTwice()
  const params = { name: 'search', arguments: {} }
  const { requestState: one } = resultOf(await call(params))
  const { requestState: two } = resultOf(await call({ ...params, requestState: one }))
  await call({ ...params, requestState: two })
  await Promise.all([1, 2].map(() => call({ ...params, requestState: two })))
  await stack.restartProxy(settings)
  await call({ ...params, requestState: two })
  const paid = stack.gate.settled.filter(({ outcome }) => outcome === 'success')
  expect(new Set(paid.map(({ callId }) => callId)).size).toBe(4)
})

test('refuses an altered state, and the state of another call or customer', async () => {
  requireInputTwice()
  const params = { name: 'search', arguments: { a: 1 } }
  const { requestState } = resultOf(await call(params)) as { requestState: string }
  origin.seen.length = 0
  stack.gate.reset()
  const eve = await stack.token(server, { sub: 'cus_eve' })
  const attempts = [
    call({ name: 'search', arguments: { a: 2 }, requestState }),
    call({ name: 'fetch', arguments: { a: 1 }, requestState }),
    call({ ...params, requestState }, eve),
    call({ ...params, requestState: `${requestState.slice(0, -2)}xx` }),
    call({ ...params, requestState: 'one' }),
  ]
  for (const { status, body } of await Promise.all(attempts)) {
    expect([status, body]).toMatchObject([200, { error: { code: -32_602 } }])
  }
  expect(origin.seen).toEqual([])
  expect(stack.gate.settled).toEqual([])
})

/** Sends a call whose params the test writes as text. `N` is replaced by an integer that a double cannot represent. */
async function callWith(params: JsonObject, key = 'mine', headers: Record<string, string> = {}) {
  const meta = params['_meta'] as JsonObject | undefined
  const keyed = { ...params, _meta: { ...meta, 'tollgate/idempotencyKey': key } }
  const sent = stateless(1, 'tools/call', keyed)
  const body = JSON.stringify(sent.body)
    .replaceAll('"N"', big)
    .replaceAll('"M"', '9007199254740992')
  return send(server.proxyUrl, token, body, { ...sent.headers, ...headers })
}

const big = '9007199254740993'

/** Returns the digest of what the origin receives. Uses of a client's key with the same digest are the same call. */
async function digestOf(...given: Parameters<typeof callWith>): Promise<string> {
  const { body } = await callWith(...given)
  expect(body).toHaveProperty('result')
  return stack.gate.admitted.at(-1)!.clientKey!.sentSha256
}

test('compares calls of one key by everything that the origin can read', async () => {
  const search = { name: 'search', arguments: { a: 'M', b: [1] } }
  const digest = await digestOf(search)
  const alike = [
    { name: 'search', arguments: { b: [1], a: 'M' } },
    { ...search, _meta: { progressToken: 7, traceparent: '00-1-1-01' } },
  ]
  for (const params of alike) expect(await digestOf(params)).toBe(digest)
  const others: JsonObject[] = [
    { ...search, arguments: { a: 'N', b: [1] } },
    { ...search, arguments: { a: 'M', b: [[1]] } },
    { ...search, arguments: [1] },
    { ...search, arguments: [2] },
    { ...search, arguments: 'N' },
    { ...search, arguments: 'M' },
    { ...search, other: 1 },
    { ...search, inputResponses: { q: 1 } },
    { ...search, inputResponses: { q: 2 } },
    { ...search, _meta: { other: 1 } },
  ]
  const digests = new Set([digest])
  for (const params of others) digests.add(await digestOf(params))
  digests.add(await digestOf(search, 'mine', { 'mcp-param-a': '2' }))
  expect(digests.size).toBe(others.length + 2)
})

test('compares rounds of a call by their state and answers', async () => {
  requireInputTwice()
  const params = { name: 'search', arguments: {} }
  const { requestState: one } = resultOf(await call(params))
  const { requestState: two } = resultOf(await call({ ...params, requestState: one }))
  const yes = { ...params, inputResponses: { q: 'yes' } }
  const digest = await digestOf({ ...yes, requestState: two })
  expect(await digestOf({ ...yes, requestState: two })).toBe(digest)
  const others = [
    { ...yes, requestState: one },
    { ...params, inputResponses: { q: 'no' }, requestState: two },
    { ...params, requestState: two },
    params,
  ]
  const digests = new Set([digest])
  for (const each of others) digests.add(await digestOf(each))
  expect(digests.size).toBe(others.length + 1)
})

test('keeps the digits of all numbers in later rounds', async () => {
  requireInputTwice()
  const respond = origin.respond
  origin.respond = (seen, response): unknown => {
    if (seen.text.includes('requestState')) return respond(seen, response)
    const schema = `"resultType":"input_required","inputRequests":{"q":{"maximum":${big}}}`
    response.writeHead(200, { 'content-type': 'application/json' })
    return response.end(`{"jsonrpc":"2.0","id":1,"result":{${schema},"requestState":"two"}}`)
  }
  const params = { name: 'search', arguments: { a: ['N'] } }
  const first = await callWith(params)
  expect(first.text).toContain(`"maximum":${big}`)
  const { requestState } = resultOf(first)
  const answered = { inputResponses: { q: { n: 'N' } }, requestState }
  expect(await callWith({ ...params, ...answered })).toMatchObject({ status: 200 })
  const { text } = origin.seen.at(-1)!
  expect(text).toContain(`"arguments":{"a":[${big}]}`)
  expect(text).toContain(`"inputResponses":{"q":{"n":${big}}}`)
  expect(text).toContain('"requestState":"two"')
  const rounded = await callWith({ name: 'search', arguments: { a: ['M'] }, ...answered })
  expect(rounded.body).toMatchObject({ error: { code: -32_602 } })
})

/** Makes the origin ask with a state of `chars` characters, and answer the round that returns the state. */
function requireInputWithState(chars: number): string {
  const state = '\u0001'.repeat(chars)
  origin.respond = (seen, response) => {
    const { requestState } = seen.message['params'] as JsonObject
    const request = { resultType: 'input_required', inputRequests: { q: {} }, requestState: state }
    return sendResult(response, seen, requestState === state ? { resultType: 'complete' } : request)
  }
  return state
}

test("carries the origin's state up to a limit, above which the call fails at once", async () => {
  await stack.restartProxy({ ...settings, TOLLGATE_MCP_STATE_BYTES_MAX: '1200000' })
  const params = { name: 'search', arguments: {} }
  // In JSON, each of these characters takes 6 bytes.
  requireInputWithState(190_000)
  const { requestState } = resultOf(await call(params))
  expect(resultOf(await call({ ...params, requestState }))).toEqual({ resultType: 'complete' })
  requireInputWithState(210_000)
  expect((await call(params)).body).toMatchObject({
    error: { code: -32_603, message: expect.stringContaining('1200000 bytes') as string },
  })
  const outcomes = stack.gate.settled.map(({ outcome }) => outcome)
  expect(outcomes).toEqual(['interim', 'success', 'fail'])
})

test('fails a call at once if its state leaves no room for the request in a body', async () => {
  await stack.restartProxy({ ...settings, TOLLGATE_MCP_BODY_BYTES_MAX: '20000' })
  origin.respond = (seen, response) => {
    const requestState = Array.from({ length: 1_000 }, () => Math.random().toString(36)).join('')
    const request = { resultType: 'input_required', inputRequests: { q: {} }, requestState }
    return sendResult(response, seen, request)
  }
  const { body } = await call({ name: 'search', arguments: { a: 'x'.repeat(12_000) } })
  expect(body).toMatchObject({ error: { code: -32_603 } })
  expect(stack.gate.settled).toMatchObject([{ outcome: 'fail' }])
  await stack.restartProxy(settings)
})

test('lets the paywall ask for input without a request to the origin', async () => {
  const request = { resultType: 'input_required', inputRequests: { 'tollgate-paywall': {} } }
  stack.gate.decide = () => ({
    kind: 'paywalled',
    answer: { kind: 'input_required', result: request },
  })
  const params = { name: 'search', arguments: {} }
  const first = resultOf(await call(params, token, { elicitation: { url: {} } }))
  expect(first).toMatchObject(request)
  stack.gate.decide = undefined
  await call({
    ...params,
    requestState: first['requestState'],
    inputResponses: { 'tollgate-paywall': { action: 'accept' } },
  })
  const [before, after] = stack.gate.admitted
  expect(after).toMatchObject({ paywallAnswered: 'accept' })
  // Calls that send the same state again must count as separate calls.
  expect(after!.callId).not.toBe(before!.callId)
  const sent = origin.seen.at(-1)!.message['params']
  expect(sent).not.toHaveProperty('requestState')
  expect(sent).not.toHaveProperty('inputResponses')
  expect(stack.gate.settled).toMatchObject([{ outcome: 'success' }])
})
