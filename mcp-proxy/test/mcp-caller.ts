import { request as post, type IncomingMessage } from 'node:http'
import type { JsonObject } from '@tollgate/schemas/json-object'

export type Called = {
  readonly status: number
  readonly headers: Headers
  /** The last message: the JSON body, or the last event of a stream. */
  readonly body: JsonObject
  /** All messages of a stream in order. Empty for a JSON body. */
  readonly events: JsonObject[]
  readonly text: string
}

/** Sends one HTTP request to the proxy. The test controls all of its content. */
export async function send(
  url: string,
  token: string | undefined,
  body: unknown,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<Called> {
  const answer = await fetch(url, {
    method,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    redirect: 'manual',
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return calledOf(answer.status, answer.headers, await answer.text())
}

/** Sends a request to a different process of the proxy than the one at the URL. */
export async function sendTo(
  port: number,
  url: string,
  token: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Called> {
  const { host, pathname } = new URL(url)
  const sent = {
    ...{ host, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...{ accept: 'application/json, text/event-stream', ...headers },
  }
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { port, path: pathname, method: 'POST', headers: sent, agent: false as const }
    const posted = post(options, resolve).on('error', reject)
    posted.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  let text = ''
  for await (const chunk of answer) text += String(chunk)
  const type = answer.headers['content-type'] ?? ''
  return calledOf(answer.statusCode!, new Headers({ 'content-type': type }), text)
}

function calledOf(status: number, headers: Headers, text: string): Called {
  const isStream = headers.get('content-type') === 'text/event-stream'
  const events = isStream
    ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as JsonObject)
    : []
  const last = events.at(-1) ?? (isStream || text === '' ? {} : (JSON.parse(text) as JsonObject))
  return { status, headers, body: last, events, text }
}

/** Reads a stream of the proxy until it contains `text`, and then disconnects. Returns what was read. */
export async function readUntil(answer: Response, text: string): Promise<string> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  let read = ''
  while (!read.includes(text)) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`The stream ended after: ${read}`)
    read += value
  }
  await reader.cancel()
  return read
}

export function request(id: number | string, method: string, params: JsonObject = {}): JsonObject {
  return { jsonrpc: '2.0', id, method, params }
}

export function toolCall(
  id: number | string,
  name = 'search',
  given: JsonObject = {},
  others: JsonObject = {},
): JsonObject {
  return request(id, 'tools/call', { name, arguments: given, ...others })
}

const initializeParams = {
  protocolVersion: '2025-11-25',
  capabilities: { elicitation: { url: {} } },
  clientInfo: { name: 'test', version: '1' },
}

/** Begins a session. Returns the headers for its requests. */
export async function beginSession(
  url: string,
  token: string | undefined,
  capabilities: JsonObject = initializeParams.capabilities,
): Promise<Record<string, string>> {
  const params = { ...initializeParams, capabilities }
  const { headers } = await send(url, token, request(0, 'initialize', params))
  const sessionId = headers.get('mcp-session-id')!
  return { 'mcp-session-id': sessionId, 'mcp-protocol-version': '2025-11-25' }
}

/** Returns a request of MCP 2026-07-28 with the headers that repeat parts of its body. */
export function stateless(
  id: number | string,
  method: string,
  params: JsonObject = {},
  capabilities: JsonObject = {},
): { readonly body: JsonObject; readonly headers: Record<string, string> } {
  const version = '2026-07-28'
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
  const given = params['_meta'] as JsonObject | undefined
  const name = params['name'] ?? params['uri']
  return {
    body: request(id, method, { ...params, _meta: { ...meta, ...given } }),
    headers: {
      'mcp-protocol-version': version,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
  }
}
