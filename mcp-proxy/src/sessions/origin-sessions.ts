import { createHash, randomUUID } from 'node:crypto'
import { Recent } from '@tollgate/platform/memory/recent'
import { isPlainObject } from '@tollgate/schemas/json-object'
import type { OriginAnswer } from '../origin/origin-answer.ts'
import type { OriginClient, OriginRequest } from '../origin/origin-client.ts'
import { isAnswerTo } from '../origin/origin-stream.ts'
import type { Message, MessageId } from '../protocol/messages.ts'
import type { SessionState } from './session-state.ts'

/** A client's session while a request of it is served. */
export type Session = {
  /** A digest of its id. */
  readonly key: string
  readonly state: SessionState
}

export function sessionKeyOf(id: string): string {
  return createHash('sha256').update(id).digest('base64')
}

/** Milliseconds after which a server that is initialised again is given up, also if it goes on sending. */
const initializeMsMax = 300_000

/** Each is as long as what its client said about itself. */
const statesMax = 10_000

type Send = (request: OriginRequest) => Promise<OriginAnswer>

/**
 * The origin's sessions behind those of clients. An origin that restarted does not know its sessions any more; then it is
 * initialised again as the client once did, and the client notices nothing. The new id is remembered in memory: another replica
 * that does not know it makes one of its own in the same way.
 */
export class OriginSessions {
  readonly #origin: OriginClient
  readonly #replaced: Recent<string>
  readonly #ended: Recent<true>
  readonly #states = new Recent<SessionState>(statesMax)
  readonly #renewing = new Map<string, Promise<string | undefined>>()
  /** Name of this process, for the sessions that it begins. */
  readonly process = randomUUID()

  constructor(origin: OriginClient, rememberedMax: number) {
    this.#origin = origin
    this.#replaced = new Recent(rememberedMax)
    this.#ended = new Recent(rememberedMax)
  }

  /** Returns what was read before, or reads it: opening an id costs more than all else about it. */
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
   * Returns the id that a request has at the origin. Requests with one id at two processes must not meet there: a server sends a
   * result to whoever asked last with its id. Where the session was begun, ids stay as they are; elsewhere they are drawn.
   */
  originIdOf({ state }: Session, id: MessageId): MessageId {
    return state.process === this.process ? id : randomUUID()
  }

  /** Whatever the origin says to it, the session is over for us. */
  async end(session: Session, request: OriginRequest): Promise<void> {
    this.#ended.set(session.key, true)
    if (session.state.originSession === null) return
    await this.#origin.endSession(this.#within(session, request))
  }

  /**
   * Sends a message within the session. Where the origin refuses the session, nothing was executed: it is initialised again and
   * the message is sent once more.
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

  /** Requests of one session that find it lost at the same time make one new session. */
  #renew(session: Session, request: OriginRequest, lost: string): Promise<string | undefined> {
    const current = this.#idOf(session)
    if (current !== null && current !== lost) return Promise.resolve(current)
    const found = this.#renewing.get(session.key)
    if (found !== undefined) return found
    // It outlives the request that found the session lost: others wait for it.
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

/** Rejects when the signal is aborted, also if the work goes on. */
function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** Reads an answer up to the response with the id; whatever else a stream holds is dropped. */
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

/** By the rules of MCP it is 404. Some servers answer 400, with a text that names the session. */
function isAboutSession(answer: OriginAnswer): boolean {
  if (answer.kind !== 'refused') return false
  if (answer.status === 404) return true
  const error = answer.error?.['error']
  return answer.status === 400 && isPlainObject(error) && /session/i.test(String(error['message']))
}
