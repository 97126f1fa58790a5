/** One event of a stream of server-sent events. */
export type StreamEvent = {
  readonly data: string
  readonly id: string | undefined
  /** Milliseconds that the server asks to wait before its stream is resumed. */
  readonly retryMs: number | undefined
}

/** An event, or a line of one, is longer than the limit. */
export class EventTooLargeError extends Error {
  override readonly name = 'EventTooLargeError'
}

/**
 * Reads server-sent events out of pieces of text that end anywhere. Holds one unfinished event, of at most `charsMax`
 * characters. Events without `data` are returned only if they carry an id or a time to wait.
 */
export class EventParser {
  readonly #charsMax: number
  /** Pieces of the line that has not ended. Joined once, so that a long line is not scanned again with each piece. */
  #rest: string[] = []
  #data: string[] = []
  #dataChars = 0
  /** Of the event and the line that have not ended. */
  #chars = 0
  #id: string | undefined
  #retryMs: number | undefined
  #endedWithReturn = false

  constructor(charsMax: number) {
    this.#charsMax = charsMax
  }

  /** Throws an EventTooLargeError. */
  push(piece: string): StreamEvent[] {
    const events: StreamEvent[] = []
    // A line ends with \n, \r or \r\n, and the two characters of the last one may come apart.
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
