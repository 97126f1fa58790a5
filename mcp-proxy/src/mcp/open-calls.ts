/** A request that the origin has not answered. */
export type OpenCall = {
  readonly controller: AbortController
  isCancelled: boolean
}

/** Requests of sessions that are under way in this process, so that the client's cancellation finds them. */
export class OpenCalls {
  readonly #calls = new Map<string, OpenCall>()
  readonly #graceMs: number

  constructor(graceMs: number) {
    this.#graceMs = graceMs
  }

  open(key: string | undefined, call: OpenCall): () => void {
    if (key === undefined) return () => undefined
    this.#calls.set(key, call)
    return () => {
      if (this.#calls.get(key) === call) this.#calls.delete(key)
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
