/** One event of a stream of server-sent events. */
export type StreamEvent = {
  readonly data: string
  readonly id: string | undefined
  /** Milliseconds that the server asks the client to wait before it resumes the stream. */
  readonly retryMs: number | undefined
}

/** Thrown when an event, or one line of it, exceeds the limit. */
export class EventTooLargeError extends Error {
  override readonly name = 'EventTooLargeError'
}

/**
 * Parses server-sent events from pieces of text that may end at any position. Buffers one incomplete event of at most `charsMax`
 * characters. Events without `data` are only returned if they contain an id or a retry time.
 */
export class EventParser {
  readonly #charsMax: number
  /** Pieces of the incomplete line. They are joined once, so that a long line is not scanned again with each piece. */
  #rest: string[] = []
  #data: string[] = []
  #dataChars = 0
  /** Characters of the incomplete event and the incomplete line. */
  #chars = 0
  #id: string | undefined
  #retryMs: number | undefined
  #endedWithReturn = false

  constructor(charsMax: number) {
    this.#charsMax = charsMax
  }

  /** Returns the events that the piece completes. Throws an EventTooLargeError. */
  push(piece: string): StreamEvent[] {
    const events: StreamEvent[] = []
    // A line ends with \n, \r or \r\n. The two characters of \r\n may arrive in different pieces.
    const text = this.#endedWithReturn && piece.startsWith('\n') ? piece.slice(1) : piece
    if (piece !== '') this.#endedWithReturn = piece.endsWith('\r')
    const [first = '', ...others] = text.split(/\r\n|\n|\r/)
    this.#rest.push(first)
    this.#chars += first.length
    for (const next of others) {
      const line = this.#rest.join('')
      this.#chars -= line.length
      this.#rest = [next]
      const event = this.#readLine(line)
      this.#chars += next.length
      if (event !== undefined) events.push(event)
    }
    if (this.#chars > this.#charsMax) {
      throw new EventTooLargeError(`An event is longer than ${this.#charsMax} characters`)
    }
    return events
  }

  #readLine(line: string): StreamEvent | undefined {
    if (line === '') return this.#finish()
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') {
      this.#data.push(value)
      this.#dataChars += value.length + 1
      this.#chars += value.length + 1
    } else if (field === 'id' && !value.includes('\0')) this.#id = value
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) this.#retryMs = Number(value)
    return undefined
  }

  #finish(): StreamEvent | undefined {
    const event = { data: this.#data.join('\n'), id: this.#id, retryMs: this.#retryMs }
    this.#data = []
    this.#chars -= this.#dataChars
    this.#dataChars = 0
    this.#id = undefined
    this.#retryMs = undefined
    const isEmpty = event.data === '' && event.id === undefined && event.retryMs === undefined
    return isEmpty ? undefined : event
  }
}
