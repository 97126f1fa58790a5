import { Recent } from '@tollgate/platform/memory/recent'
import type { MessageId } from '../protocol/messages.ts'

/** A request that the origin has not answered. */
export type OpenCall = {
  readonly controller: AbortController
  /** Its id at the origin. */
  readonly originId: MessageId
  /** Whether the origin has begun to answer. */
  hasBegun: boolean
  /** How far the origin was when the client cancelled the request. */
  cancelled: { readonly hasBegun: boolean } | undefined
}

/** Ids that are remembered of requests which ended without an answer. */
const unansweredMax = 100_000

/**
 * Requests of sessions that are under way in this process, so that the client's cancellation finds them.
 *
 * An id stands for one request. Servers send a result to whoever asked last with its id, so a client that used the id of a tool
 * which costs something for a request that costs nothing would be given the one as the answer to the other.
 */
export class OpenCalls {
  readonly #calls = new Map<string, OpenCall>()
  /** The origin may answer them yet. */
  readonly #unanswered = new Recent<true>(unansweredMax)
  readonly #graceMs: number

  constructor(graceMs: number) {
    this.#graceMs = graceMs
  }

  /** Returns what ends it, or undefined if a request with the same id is not answered yet. `key` is what `callKeyOf` returns. */
  open(key: string | undefined, call: OpenCall): ((isAnswered: boolean) => void) | undefined {
    if (key === undefined) return () => undefined
    if (this.#calls.has(key) || this.#unanswered.get(key) === true) return undefined
    this.#calls.set(key, call)
    return (isAnswered) => {
      this.#calls.delete(key)
      if (!isAnswered) this.#unanswered.set(key, true)
    }
  }

  /**
   * Notes that the client has cancelled a request, and returns it; undefined if it is not under way here. The origin is told, and
   * may leave it without an answer: after the grace the request is ended.
   */
  cancel(key: string): OpenCall | undefined {
    const call = this.#calls.get(key)
    if (call !== undefined) this.#cancel(call)
    return call
  }

  /** Notes that the client has ended a session, and with it the requests that are under way in it. */
  cancelAllOf(sessionKey: string): void {
    const begin = callKeyOf(sessionKey, '')
    for (const [key, call] of this.#calls) if (key.startsWith(begin)) this.#cancel(call)
  }

  #cancel(call: OpenCall): void {
    if (call.cancelled !== undefined) return
    call.cancelled = { hasBegun: call.hasBegun }
    setTimeout(() => call.controller.abort(), this.#graceMs).unref()
  }
}

/** Names a request of a session. `id` is JSON. */
export function callKeyOf(sessionKey: string, id: string): string {
  return `${sessionKey} ${id}`
}
