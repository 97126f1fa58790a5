import type { OutboundRequest, OpenedAnswer } from '@tollgate/platform/outbound/open-answer'
import type { Outbound } from '@tollgate/platform/outbound/open-outbound'
import { OutboundError, toOutboundError } from '@tollgate/platform/outbound/outbound-error'
import { isPlainObject, type JsonObject } from '@tollgate/schemas/json-object'
import { isMessage, type Message, type MessageId } from '../protocol/messages.ts'
import type { ServedServer } from '../servers/served-server.ts'
import { EventTooLargeError } from './event-parser.ts'
import type { OriginAnswer, OriginFailure } from './origin-answer.ts'
import { readOriginStream, type EventSource } from './origin-stream.ts'
import { parseJson } from '../protocol/parse-json.ts'

export type OriginRequest = {
  readonly server: ServedServer
  /** Headers of MCP and of the trace. */
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

export type OriginLimits = {
  readonly resultBytesMax: number
  readonly originSilenceMs: number
  readonly streamSilenceMs: number
}

/** The connection pool of a request. An answer is resumed over the same pool. */
type Pool = 'calls' | 'streams'

type Opened = OpenedAnswer & EventSource

type Sent = { readonly method: OutboundRequest['method']; readonly body?: string }

/**
 * Sends requests to the MCP servers of providers. Streams of notifications use their own connections, so that they cannot block
 * calls.
 */
export class OriginClient {
  readonly #calls: Pick<Outbound, 'of'>
  readonly #streams: Pick<Outbound, 'of'>
  readonly #limits: OriginLimits

  constructor(calls: Pick<Outbound, 'of'>, streams: Pick<Outbound, 'of'>, limits: OriginLimits) {
    this.#calls = calls
    this.#streams = streams
    this.#limits = limits
  }

  /**
   * Sends one message. `id` is the id of a request, or undefined for other messages. Rejects only if `request.signal` aborted it.
   */
  post(request: OriginRequest, body: string, id: MessageId | undefined): Promise<OriginAnswer> {
    return this.#exchange(request, 'calls', { method: 'POST', body }, id)
  }

  /** Sends a request whose answer stays open, over the connections for streams. Rejects only if `request.signal` aborted it. */
  listen(request: OriginRequest, body: string, id: MessageId | undefined): Promise<OriginAnswer> {
    return this.#exchange(request, 'streams', { method: 'POST', body }, id)
  }

  /** Ends a session at the origin. Rejects only if `request.signal` aborted it. */
  endSession(request: OriginRequest): Promise<OriginAnswer> {
    return this.#exchange(request, 'calls', { method: 'DELETE' }, undefined)
  }

  /** Opens the stream of messages that the server sends by itself. Rejects only if `request.signal` aborted it. */
  openStream(request: OriginRequest): Promise<OriginAnswer> {
    return this.#exchange(request, 'streams', { method: 'GET' }, undefined)
  }

  async #exchange(
    request: OriginRequest,
    pool: Pool,
    sent: Sent,
    id: MessageId | undefined,
  ): Promise<OriginAnswer> {
    try {
      return await this.#read(await this.#open(request, pool, sent), request, pool, id)
    } catch (error) {
      if (request.signal.aborted) throw error
      return failureOf(error)
    }
  }

  /** Sends a request that is aborted if the server sends nothing for too long. */
  async #open(request: OriginRequest, pool: Pool, sent: Sent): Promise<Opened> {
    const { originSilenceMs, streamSilenceMs } = this.#limits
    const quiet = new Quiet(request.signal, pool === 'calls' ? originSilenceMs : streamSilenceMs)
    try {
      const opened = await this.#send(pool, request, sent, quiet.signal)
      opened.body.on('close', quiet.end)
      return { ...opened, heard: quiet.heard }
    } catch (error) {
      quiet.end()
      throw error
    }
  }

  #send(
    pool: Pool,
    { server, headers }: OriginRequest,
    { method, body }: Sent,
    signal: AbortSignal,
  ): Promise<OpenedAnswer> {
    const ways = pool === 'calls' ? this.#calls : this.#streams
    return ways.of(server.environment).open({
      url: server.originUrl,
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
        ...headers,
        ...server.originHeaders,
      },
      ...(body !== undefined && { body }),
      signal,
    })
  }

  async #read(
    opened: Opened,
    request: OriginRequest,
    pool: Pool,
    awaitedId: MessageId | undefined,
  ): Promise<OriginAnswer> {
    const { status, body, heard } = opened
    const { resultBytesMax } = this.#limits
    const session = opened.header('mcp-session-id')
    const withSession = session === undefined ? {} : { sessionId: session }
    if (isEventStream(opened)) {
      const messages = readOriginStream(opened, {
        awaitedId,
        charsMax: resultBytesMax,
        signal: request.signal,
        resume: (lastEventId) => this.#resume(request, pool, lastEventId),
      })
      return { kind: 'stream', messages, ...withSession }
    }
    const text = await readText(body, resultBytesMax, heard)
    const message = status === 202 || text === '' ? undefined : parseMessage(text)
    if (status >= 200 && status < 300) {
      if (message !== undefined) {
        return { kind: 'message', received: { message, text }, ...withSession }
      }
      return status === 202 || text === '' ? { kind: 'accepted' } : notMcp
    }
    if (status >= 400 && status < 500) return { kind: 'refused', status, error: errorIn(text) }
    return { kind: 'failed', reason: `The MCP server answered with status ${status}.` }
  }

  async #resume(
    request: OriginRequest,
    pool: Pool,
    lastEventId: string,
  ): Promise<EventSource | undefined> {
    const headers = { ...request.headers, 'last-event-id': lastEventId }
    const opened = await this.#open({ ...request, headers }, pool, { method: 'GET' })
    if (isEventStream(opened)) return opened
    opened.body.destroy()
    return undefined
  }
}

function isEventStream({ status, header }: OpenedAnswer): boolean {
  const type = header('content-type') ?? ''
  return status >= 200 && status < 300 && type.startsWith('text/event-stream')
}

const notMcp: OriginFailure = {
  kind: 'failed',
  reason: 'The MCP server answered with something that is not MCP.',
}

/** Aborts a request if the origin sends nothing for too long, or if the caller aborts it. */
class Quiet {
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout
  readonly #caller: AbortSignal
  readonly #onCaller = (): void => this.#controller.abort(this.#caller.reason)

  constructor(caller: AbortSignal, silenceMs: number) {
    this.#caller = caller
    this.#timer = setTimeout(() => {
      this.#controller.abort(new OutboundError('timeout', 'The address did not answer in time'))
    }, silenceMs)
    if (caller.aborted) this.#onCaller()
    else caller.addEventListener('abort', this.#onCaller, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  readonly heard = (): void => void this.#timer.refresh()

  readonly end = (): void => {
    clearTimeout(this.#timer)
    this.#caller.removeEventListener('abort', this.#onCaller)
  }
}

async function readText(
  body: OpenedAnswer['body'],
  bytesMax: number,
  heard: () => void,
): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    heard()
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > bytesMax) {
      body.destroy()
      throw new OutboundError('too-large', 'The address answered with too much')
    }
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseMessage(text: string): Message | undefined {
  const parsed = parseJson(text)
  return isMessage(parsed) ? parsed : undefined
}

/** Returns the JSON-RPC error of a body, even if its id is missing or null. */
function errorIn(text: string): Message | undefined {
  const parsed = parseJson(text)
  const error = isPlainObject(parsed) ? parsed['error'] : undefined
  if (!isPlainObject(error) || typeof error['code'] !== 'number') return undefined
  return typeof error['message'] === 'string' ? (parsed as JsonObject) : undefined
}

const sentences: Readonly<Record<OutboundError['failure'], string>> = {
  refused: 'The MCP server has an address that may not be reached.',
  unresolved: 'The name of the MCP server leads to no address.',
  unreachable: 'The MCP server cannot be reached.',
  tls: 'The MCP server has no valid certificate.',
  timeout: 'The MCP server did not answer in time.',
  'cut-off': 'The MCP server closed the connection before its answer was complete.',
  'too-large': 'The MCP server answered with more than is allowed.',
  malformed: 'The MCP server answered with something that is not HTTP.',
}

export function failureOf(error: unknown): OriginFailure {
  if (error instanceof EventTooLargeError) return { kind: 'failed', reason: sentences['too-large'] }
  return { kind: 'failed', reason: sentences[toOutboundError(error).failure] }
}
