import { Recent } from '@tollgate/platform/memory/recent'

/** A request that the origin has not answered. */
export type OpenCall = {
  readonly controller: AbortController
  isCancelled: boolean
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

  /** Returns what ends it, or undefined if a request with the same id is not answered yet. */
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
   * Notes that the client has cancelled the request. The origin has been told, and may leave it without an answer: after the
   * grace the request is ended.
   */
  cancel(key: string): void {
    const call = this.#calls.get(key)
    if (call === undefined || call.isCancelled) return
    call.isCancelled = true
    setTimeout(() => call.controller.abort(), this.#graceMs).unref()
  }
}
