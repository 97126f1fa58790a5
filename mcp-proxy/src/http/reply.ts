import type { ServerResponse } from 'node:http'
import type { Message } from '../protocol/messages.ts'
import { sendJson } from './send-response.ts'
import { isClosed, whenClosed } from './when-closed.ts'

/** The answer to one request message: an HTTP response of its own, or one item of a batch response. */
export interface Reply {
  /** Whether the client has disconnected, so that nothing sent reaches it. */
  readonly isDisconnected: boolean
  /** Calls `listener` once if the client disconnects before the answer is finished. */
  onDisconnect(listener: () => void): void
  /** Sends the headers immediately, because more than one message may follow. */
  openStream(): void
  /** Sends a message before the response. Resolves when the client can receive more. */
  send(text: string): Promise<void>
  /**
   * Sends the response, which is the last message. `beforeLast` runs synchronously before the last byte is passed to the socket.
   */
  finish(text: string, status?: number, beforeLast?: () => void): void
}

/** Returns the message as one line of JSON. */
export function textOf(message: Message): string {
  return JSON.stringify(message)
}

/**
 * Answers with JSON, or with an event stream if messages precede the response. A slow answer also becomes a stream, so that
 * keep-alive comments keep its connection open.
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

  get isDisconnected(): boolean {
    return isClosed(this.#response) && !this.#isFinished
  }

  onDisconnect(listener: () => void): void {
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

/** Writes an event. The promise, if any, resolves when the response can take more data or is closed. */
export function writeEvent(response: ServerResponse, text: string): Promise<void> | undefined {
  if (isClosed(response) || response.write(eventOf(text))) return undefined
  return new Promise((resolve) => {
    const forget = whenClosed(response, writeFinished)
    function writeFinished(): void {
      forget()
      response.off('drain', writeFinished)
      resolve()
    }
    response.on('drain', writeFinished)
  })
}

/** Events have no ids, because a client that received an id would try to resume the stream from it. */
function eventOf(text: string): string {
  return `event: message\ndata: ${text.replaceAll(/\r\n|\n|\r/g, '\ndata: ')}\n\n`
}
