import type { ServerResponse } from 'node:http'
import { sendJson } from './answers.ts'
import type { Reply } from './reply.ts'

/** Collects the responses of a batch and sends them together. What comes before a response has no place in it, and is dropped. */
export class BatchReply {
  readonly #response: ServerResponse
  readonly #texts: (string | undefined)[]
  readonly #beforeLast: (() => void)[] = []
  #missing: number

  constructor(response: ServerResponse, requests: number) {
    this.#response = response
    this.#texts = Array<string | undefined>(requests).fill(undefined)
    this.#missing = requests
  }

  replyFor(place: number): Reply {
    const response = this.#response
    return {
      get isGone() {
        return response.destroyed
      },
      onGone: (listener) => void response.once('close', listener),
      openStream: () => undefined,
      send: () => Promise.resolve(),
      finish: (text, _status, beforeLast) => this.#finish(place, text, beforeLast),
    }
  }

  #finish(place: number, text: string, beforeLast: (() => void) | undefined): void {
    this.#texts[place] = text
    if (beforeLast !== undefined) this.#beforeLast.push(beforeLast)
    this.#missing -= 1
    if (this.#missing > 0) return
    for (const each of this.#beforeLast) each()
    sendJson(this.#response, 200, `[${this.#texts.join(',')}]`)
  }
}
