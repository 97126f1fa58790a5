import type { ServerResponse } from 'node:http'
import { sendJson } from './send-response.ts'
import type { Reply } from './reply.ts'

/**
 * Collects the responses of a batch and sends them together. Messages before a response have no position in a batch and are
 * dropped. A call is settled when its own response has arrived, so a slow or failed call does not delay the records of the others.
 */
export class BatchReply {
  readonly #response: ServerResponse
  readonly #texts: (string | undefined)[]
  #missing: number

  constructor(response: ServerResponse, requests: number) {
    this.#response = response
    this.#texts = Array<string | undefined>(requests).fill(undefined)
    this.#missing = requests
  }

  replyFor(place: number): Reply {
    const response = this.#response
    return {
      get isDisconnected() {
        return response.destroyed
      },
      onDisconnect: (listener) => void response.once('close', listener),
      openStream: () => undefined,
      send: () => Promise.resolve(),
      finish: (text, _status, beforeLast) => this.#finish(place, text, beforeLast),
    }
  }

  #finish(place: number, text: string, beforeLast: (() => void) | undefined): void {
    if (this.#texts[place] !== undefined) return
    this.#texts[place] = text
    this.#missing -= 1
    beforeLast?.()
    if (this.#missing === 0) sendJson(this.#response, 200, `[${this.#texts.join(',')}]`)
  }
}
