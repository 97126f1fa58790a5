import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { send, type HttpReply } from './http-call.ts'
import type { Party } from './party.ts'
import type { Player } from './player.ts'
import type { Era } from './step.ts'

/** The end of a call as seen by its client. */
export type CallOutcome =
  | { readonly kind: 'served' | 'tool error' | 'paywall' | 'gone' | 'refused' }
  /** `error` is the JSON-RPC error of the answer, if there was one. */
  | { readonly kind: 'error'; readonly error?: object }
  /** The user is asked to pay. */
  | { readonly kind: 'paywall question'; readonly state: string }
  | { readonly kind: 'question'; readonly state: string }

type Place = Pick<Party, 'market' | 'url'>

export type ToolCall = {
  readonly player: Player
  readonly tool: string
  readonly given: { readonly mark: string; readonly ending: string }
  readonly era: Era
  readonly proxy: number
  readonly key?: string | undefined
  readonly opensUrls?: boolean
  /** State of the question that the call answers. */
  readonly state?: string
  readonly signal?: AbortSignal
}

const version = '2026-07-28'
/** Endings without a JSON-RPC response. */
const unanswered: ReadonlySet<string> = new Set(['broken stream', 'status 500'])

const pauseMs = 40
const triesMax = 150

/** Calls the tool until the outcome is known. Returns it with the life of the proxy that served the call. */
export async function callTool(
  party: Place,
  call: ToolCall,
): Promise<{ readonly ended: CallOutcome; readonly life: string }> {
  const { world } = party.market
  for (let tries = 0; tries < triesMax; tries++) {
    const life = world.lifeOf(call.proxy)
    const before = world.origin.executionsOf(call.given.mark)
    const ended = outcomeOfReply(await sendCall(party, call))
    // The proxy refuses the id of a call without an answer, because the MCP server may still send the result.
    if (unanswered.has(call.given.ending)) call.player.requestId += 1
    if (ended !== undefined) return { ended, life }
    const executions = world.origin.executionsOf(call.given.mark) - before
    if (executions > 0)
      throw new Error(`a call ran without an answer: ${JSON.stringify(call.given)}`)
    // Its request for a hold may have been granted without an answer, and then the proxy releases the unit a moment later.
    call.player.leftCalls += 1
    await sleep(pauseMs)
  }
  throw new Error(`no answer to ${JSON.stringify(call.given)}`)
}

export async function sendCall(party: Place, call: ToolCall): Promise<HttpReply> {
  const { tool: name, given, era, proxy, state, player, signal } = call
  const answer = { inputResponses: { which: { action: 'accept', content: {} } } }
  const params: JsonObject = {
    ...{ name, arguments: given },
    ...(state !== undefined && { requestState: state, ...answer }),
  }
  const key = call.key === undefined ? {} : { 'tollgate/idempotencyKey': call.key }
  const capabilities = call.opensUrls === true ? { elicitation: { url: {} } } : {}
  const port = party.market.world.portOf(proxy)
  const { url } = party
  const message = { jsonrpc: '2.0', id: player.requestId, method: 'tools/call' }
  const common = { port, url, token: player.token, ...(signal !== undefined && { signal }) }
  if (era === 'stateless') {
    return send({
      ...common,
      headers: { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': name },
      body: {
        ...message,
        params: { ...params, _meta: { ...statelessMeta(capabilities), ...key } },
      },
    })
  }
  const session = await sessionOf(party, player, proxy, call.opensUrls === true)
  if ('kind' in session) return session
  const { headers } = session
  const reply = await send({
    ...common,
    headers,
    body: { ...message, params: { ...params, _meta: key } },
  })
  if (reply.kind === 'answered' && reply.status === 404) player.sessions.clear()
  return reply
}

export function statelessMeta(capabilities: object = {}): JsonObject {
  return {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
}

type Session = { readonly headers: Record<string, string> }

/** Returns the customer's session, and begins one if there is none. Returns the outcome if it could not begin. */
async function sessionOf(
  { market, url }: Place,
  player: Player,
  proxy: number,
  opensUrls: boolean,
): Promise<Session | HttpReply> {
  const name = opensUrls ? 'opens addresses' : 'opens none'
  const known = player.sessions.get(name)
  if (known !== undefined) return { headers: known }
  const capabilities = opensUrls ? { elicitation: { url: {} } } : {}
  const clientInfo = { name: 'test', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo }
  const body = { jsonrpc: '2.0', id: 0, method: 'initialize', params }
  const port = market.world.portOf(proxy)
  const reply = await send({ port, url, token: player.token, body })
  if (reply.kind !== 'answered' || reply.sessionId === undefined) return reply
  const headers = { 'mcp-session-id': reply.sessionId, 'mcp-protocol-version': '2025-11-25' }
  player.sessions.set(name, headers)
  return { headers }
}

/** Returns undefined for a call that did not begin and can be repeated. */
export function outcomeOfReply(reply: HttpReply): CallOutcome | undefined {
  if (reply.kind !== 'answered' || reply.status === 503) return undefined
  if (reply.status === 404) return { kind: 'gone' }
  if (reply.status === 401) return { kind: 'refused' }
  return outcomeOfMessage(reply.body)
}

export function outcomeOfMessage({ result, error }: JsonObject): CallOutcome | undefined {
  if (error !== undefined) {
    const { code, message } = error as { code: number; message: string }
    if (/cannot be used at the moment/.test(message)) return undefined
    if (/not available to this customer/.test(message)) return { kind: 'gone' }
    if (code === -32_602) return { kind: 'refused' }
    return code === -32_042 ? { kind: 'paywall' } : { kind: 'error', error: { code, message } }
  }
  const given = result as JsonObject
  if (given['resultType'] === 'input_required') {
    const isPaywall = 'tollgate-paywall' in (given['inputRequests'] as object)
    const state = String(given['requestState'])
    return { kind: isPaywall ? 'paywall question' : 'question', state }
  }
  if (given['isError'] === true) return { kind: 'tool error' }
  const { kind } = (given['structuredContent'] ?? {}) as { kind?: string }
  return { kind: kind === undefined ? 'served' : 'paywall' }
}
