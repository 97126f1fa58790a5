import { Recent } from '@tollgate/platform/memory/recent'
import type { MessageId } from '../protocol/messages.ts'

/** A request that the origin has not answered yet. */
export type OpenCall = {
  readonly controller: AbortController
  /** Id of the request at the origin. */
  readonly originId: MessageId
  /** Whether the origin has begun to answer. */
  hasBegun: boolean
  /** Progress of the origin when the client cancelled the request, or undefined if it was not cancelled. */
  cancelled: { readonly hasBegun: boolean } | undefined
}

/** Number of remembered ids of requests that ended without an answer. */
const unansweredMax = 100_000

/**
 * Requests of sessions that are open in this process, so that cancellations by the client find them.
 *
 * An id identifies one request. MCP servers send a result to the most recent request with its id. Without this check, a client
 * could use the id of a paid tool call for a free request, and would receive the result of the paid call as the answer to the free
 * one.
 */
export class OpenCalls {
  readonly #calls = new Map<string, OpenCall>()
  /** Ids of requests that the origin may still answer. */
  readonly #unanswered = new Recent<true>(unansweredMax)
  /** Whether the client cancelled them, of the tool calls that are being admitted. */
  readonly #admitting = new Map<string, { isCancelled: boolean }>()
  readonly #graceMs: number

  constructor(graceMs: number) {
    this.#graceMs = graceMs
  }

  /**
   * Registers a request. Returns a function that removes it, or undefined if a request with the same id is not answered yet. `key`
   * is the result of `callKeyOf`.
   */
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
   * Notes cancellations of a tool call until it is admitted, because it is not an open request before. Returns a function that ends
   * this and returns whether the client cancelled the call.
   */
  admit(key: string | undefined): () => boolean {
    if (key === undefined || this.#admitting.has(key)) return () => false
    const admitting = { isCancelled: false }
    this.#admitting.set(key, admitting)
    return () => {
      this.#admitting.delete(key)
      return admitting.isCancelled
    }
  }

  /**
   * Marks a request as cancelled by the client and returns it, or returns undefined if this process does not serve it. The origin
   * receives the cancellation and need not answer, so the request is aborted after the grace period.
   */
  cancel(key: string): OpenCall | undefined {
    const admitting = this.#admitting.get(key)
    if (admitting !== undefined) admitting.isCancelled = true
    const call = this.#calls.get(key)
    if (call !== undefined) this.#cancel(call)
    return call
  }

  /** Cancels all open requests of a session that the client has ended. */
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

/** Returns the key of a request within a session. `id` is JSON. */
export function callKeyOf(sessionKey: string, id: string): string {
  return `${sessionKey} ${id}`
}
