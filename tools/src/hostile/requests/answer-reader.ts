export type HttpAnswer = {
  readonly status: number
  readonly body: string
  /** Whether the server announced that it closes the connection. */
  readonly isLast: boolean
}

/** Parses complete HTTP/1.1 answers from a stream of bytes. */
export class AnswerReader {
  #received: Buffer = Buffer.alloc(0)

  push(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
  }

  /** Returns the next answer if it is complete. An answer to HEAD announces the length of a body that is not sent. */
  next(isToHead: boolean): HttpAnswer | undefined {
    for (;;) {
      const headEnd = this.#received.indexOf('\r\n\r\n')
      if (headEnd < 0) return undefined
      const head = this.#received.toString('latin1', 0, headEnd)
      const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1])
      if (Number.isNaN(status)) throw new Error(`Not an HTTP answer: ${head.slice(0, 200)}`)
      const bodyAt = headEnd + 4
      const isInterim = status >= 100 && status < 200
      const hasBody = !isInterim && !isToHead && status !== 204 && status !== 304
      const body = hasBody ? this.#takeBody(head, bodyAt) : { text: '', end: bodyAt }
      if (!body) return undefined
      this.#received = this.#received.subarray(body.end)
      if (!isInterim)
        return { status, body: body.text, isLast: /^connection:\s*close/im.test(head) }
    }
  }

  #takeBody(head: string, bodyAt: number): { text: string; end: number } | undefined {
    if (/^transfer-encoding:\s*chunked/im.test(head)) return this.#takeChunks(bodyAt)
    const length = Number(/^content-length:\s*(\d+)/im.exec(head)?.[1] ?? 0)
    const end = bodyAt + length
    if (this.#received.length < end) return undefined
    return { text: this.#received.toString('utf8', bodyAt, end), end }
  }

  #takeChunks(from: number): { text: string; end: number } | undefined {
    let text = ''
    for (let at = from; ;) {
      const lineEnd = this.#received.indexOf('\r\n', at)
      if (lineEnd < 0) return undefined
      const size = Number.parseInt(this.#received.toString('latin1', at, lineEnd), 16)
      const end = lineEnd + 2 + size + 2
      if (this.#received.length < end) return undefined
      if (size === 0) return { text, end }
      text += this.#received.toString('utf8', lineEnd + 2, end - 2)
      at = end
    }
  }
}
