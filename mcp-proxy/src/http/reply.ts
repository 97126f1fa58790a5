import type { ServerResponse } from 'node:http'
import type { Message } from '../protocol/messages.ts'
import { sendJson } from './answers.ts'
import { isClosed, whenClosed } from './when-closed.ts'

/** The answer to one request message, whatever carries it: a response of its own, or a place in that of a batch. */
export interface Reply {
  /** Whether the client has gone: nothing that is sent reaches it. */
  readonly isGone: boolean
  /** Called once if the client goes before the answer is finished. */
  onGone(listener: () => void): void
  /** Sends headers at once, since more than one message may come. */
  openStream(): void
  /** Sends a message before the response. Resolves when the client can take more. */
  send(text: string): Promise<void>
  /** Sends the response, which is the last message. `beforeLast` runs in the same turn, before the last byte is handed over. */
  finish(text: string, status?: number, beforeLast?: () => void): void
}

/** Text that is one line of JSON stays as it came. */
export function textOf(message: Message): string {
  return JSON.stringify(message)
}

/**
 * Answers with JSON, or with a stream of events where messages come before the response. An answer that takes long becomes a
 * stream too, so that comments keep its connection open.
 */
export class HttpReply implements Reply {
  readonly #response: ServerResponse
  readonly #acceptsStream: boolean
  readonly #keepAlive: NodeJS.Timeout
  #isStream = false
  #isFinished = false

  constructor(response: ServerResponse, acceptsStream: boolean, keepAliveMs: number) {
    this.#response = response
    this.#acceptsStream = acceptsStream
    this.#keepAlive = setInterval(() => this.#keepOpen(), keepAliveMs)
    whenClosed(response, () => clearInterval(this.#keepAlive))
  }

  get isGone(): boolean {
    return isClosed(this.#response) && !this.#isFinished
  }

  onGone(listener: () => void): void {
    whenClosed(this.#response, () => {
      if (!this.#isFinished) listener()
    })
  }

  openStream(): void {
    if (this.#isStream || !this.#acceptsStream || this.#response.headersSent) return
    this.#isStream = true
    openEventStream(this.#response)
  }

  async send(text: string): Promise<void> {
    this.openStream()
    if (this.#isStream) await writeEvent(this.#response, text)
  }

  finish(text: string, status = 200, beforeLast?: () => void): void {
    this.#isFinished = true
    clearInterval(this.#keepAlive)
    beforeLast?.()
    if (this.#isStream) this.#response.end(eventOf(text))
    else sendJson(this.#response, status, text)
  }

  #keepOpen(): void {
    this.openStream()
    if (this.#isStream && !this.#response.writableNeedDrain) this.#response.write(keepAliveComment)
  }
}

export const keepAliveComment = ': keep-alive\n\n'

export function openEventStream(response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  })
  response.flushHeaders()
}

/** Resolves when the response takes more, or is closed. */
export function writeEvent(response: ServerResponse, text: string): Promise<void> | undefined {
  if (isClosed(response) || response.write(eventOf(text))) return undefined
  return new Promise((resolve) => {
    const forget = whenClosed(response, done)
    function done(): void {
      forget()
      response.off('drain', done)
      resolve()
    }
    response.on('drain', done)
  })
}

/** Events carry no ids: a client that saw one would try to resume from there. */
function eventOf(text: string): string {
  return `event: message\ndata: ${text.replaceAll(/\r\n|\n|\r/g, '\ndata: ')}\n\n`
}
