import { createHash, randomUUID } from 'node:crypto'
import { Recent } from '@tollgate/platform/memory/recent'
import { unlessAborted } from '@tollgate/platform/waiting/unless-aborted'
import { isPlainObject } from '@tollgate/schemas/json-object'
import type { OriginAnswer } from '../origin/origin-answer.ts'
import type { OriginClient, OriginRequest } from '../origin/origin-client.ts'
import { isAnswerTo } from '../origin/origin-stream.ts'
import type { Message, MessageId } from '../protocol/messages.ts'
import type { SessionState } from './session-state.ts'

/** A client's session while one of its requests is served. */
export type Session = {
  /** Digest of the session id. */
  readonly key: string
  readonly state: SessionState
}

export function sessionKeyOf(id: string): string {
  return createHash('sha256').update(id).digest('base64')
}

/** Milliseconds after which a repeated `initialize` is aborted, even if the server keeps sending. */
const initializeMsMax = 300_000

/** Maximum session states in memory. The size of each depends on what its client sent in `initialize`. */
const statesMax = 10_000

type Send = (request: OriginRequest) => Promise<OriginAnswer>

/**
 * Maps the sessions of clients to sessions of the origin. An origin that restarted no longer knows its sessions. The proxy then
 * repeats the client's `initialize`, and the client notices nothing. The new session id is only kept in memory: a replica that does
 * not know it creates its own session in the same way.
 */
export class OriginSessions {
  readonly #origin: OriginClient
  readonly #replaced: Recent<string>
  readonly #ended: Recent<true>
  readonly #states = new Recent<SessionState>(statesMax)
  readonly #renewing = new Map<string, Promise<string | undefined>>()
  /** Id of this process, stored in the sessions that it begins. */
  readonly process = randomUUID()

  constructor(origin: OriginClient, rememberedMax: number) {
    this.#origin = origin
    this.#replaced = new Recent(rememberedMax)
    this.#ended = new Recent(rememberedMax)
  }

  /** Returns the cached state, or reads and caches it. Opening a session id is the most expensive step, so states are cached. */
  stateOf(key: string, read: () => SessionState | undefined): SessionState | undefined {
    const known = this.#states.get(key)
    if (known !== undefined) return known
    const state = read()
    if (state !== undefined) this.#states.set(key, state)
    return state
  }

  hasEnded(key: string): boolean {
    return this.#ended.get(key) === true
  }

  /**
   * Returns the id that a request gets at the origin. An MCP server sends a result to the most recent request with its id, so
   * requests of 2 processes must not use the same id. The process that began the session keeps the client's ids. Other processes
   * use random ids.
   */
  originIdOf({ state }: Session, id: MessageId): MessageId {
    return state.process === this.process ? id : randomUUID()
  }

  /** Ends the session. It counts as ended for the proxy whatever the origin answers. */
  async end(session: Session, request: OriginRequest): Promise<void> {
    this.#ended.set(session.key, true)
    if (session.state.originSession === null) return
    await this.#origin.endSession(this.#within(session, request))
  }

  /**
   * Sends a message within the session. If the origin refuses the session, it has executed nothing. The session is then initialized
   * again and the message is sent once more.
   */
  post(
    session: Session,
    request: OriginRequest,
    body: string,
    id: MessageId | undefined,
  ): Promise<OriginAnswer> {
    return this.#send(session, request, (each) => this.#origin.post(each, body, id))
  }

  openStream(session: Session, request: OriginRequest): Promise<OriginAnswer> {
    return this.#send(session, request, (each) => this.#origin.openStream(each))
  }

  async #send(session: Session, request: OriginRequest, send: Send): Promise<OriginAnswer> {
    const used = this.#idOf(session)
    const answer = await send(this.#within(session, request))
    if (used === null || this.hasEnded(session.key) || !isAboutSession(answer)) return answer
    const renewed = await unlessAborted(this.#renew(session, request, used), request.signal)
    if (renewed === undefined || this.hasEnded(session.key)) return answer
    return send(this.#within(session, request))
  }

  #idOf({ key, state }: Session): string | null {
    return this.#replaced.get(key) ?? state.originSession
  }

  #within(session: Session, request: OriginRequest): OriginRequest {
    const id = this.#idOf(session)
    const headers = {
      'mcp-protocol-version': session.state.version,
      ...request.headers,
      ...(id !== null && { 'mcp-session-id': id }),
    }
    return { ...request, headers }
  }

  /** Begins a new session at the origin. Requests that find the session lost at the same time share 1 new session. */
  #renew(session: Session, request: OriginRequest, lost: string): Promise<string | undefined> {
    const current = this.#idOf(session)
    if (current !== null && current !== lost) return Promise.resolve(current)
    const found = this.#renewing.get(session.key)
    if (found !== undefined) return found
    // The initialization has its own timeout instead of the request's signal, because other requests may also wait for it.
    const detached = { ...request, signal: AbortSignal.timeout(initializeMsMax) }
    const renewing = this.#initialize(session, detached).finally(() =>
      this.#renewing.delete(session.key),
    )
    this.#renewing.set(session.key, renewing)
    return renewing
  }

  async #initialize(session: Session, request: OriginRequest): Promise<string | undefined> {
    const id = 'tollgate-initialize'
    const { initializeText } = session.state
    const body = `{"jsonrpc":"2.0","id":"${id}","method":"initialize","params":${initializeText}}`
    const answer = await this.#origin.post(request, body, id)
    const response = await responseIn(answer, id)
    if (response === undefined || !isPlainObject(response['result'])) return undefined
    const sessionId = 'sessionId' in answer ? answer.sessionId : undefined
    if (sessionId === undefined) return undefined
    this.#replaced.set(session.key, sessionId)
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' }
    const within = this.#within(session, request)
    await this.#origin.post(within, JSON.stringify(notification), undefined)
    return sessionId
  }
}

/** Reads an answer up to the response with the id. All other messages of a stream are dropped. */
export async function responseIn(
  answer: OriginAnswer,
  id: MessageId,
): Promise<Message | undefined> {
  if (answer.kind === 'message') {
    return isAnswerTo(answer.received, id) ? answer.received.message : undefined
  }
  if (answer.kind !== 'stream') return undefined
  for await (const received of answer.messages) {
    if (isAnswerTo(received, id)) return received.message
  }
  return undefined
}

/**
 * Returns whether an answer refuses the session. MCP requires 404. Some servers answer 400 with a message that mentions the
 * session.
 */
function isAboutSession(answer: OriginAnswer): boolean {
  if (answer.kind !== 'refused') return false
  if (answer.status === 404) return true
  const error = answer.error?.['error']
  return answer.status === 400 && isPlainObject(error) && /session/i.test(String(error['message']))
}
