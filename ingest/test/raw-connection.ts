import { connect, type Socket } from 'node:net'

export type RawAnswer = {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** An HTTP client that controls every packet. */
export class RawConnection {
  readonly #socket: Socket
  #received = Buffer.alloc(0)
  #wake: () => void = () => undefined
  isClosed = false

  static open(port: number): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      socket.setNoDelay(true)
      socket.setMaxListeners(0)
      socket.once('error', reject)
      socket.once('connect', () => resolve(new RawConnection(socket)))
    })
  }

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#wake()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.isClosed = true
      this.#wake()
    })
  }

  /** Resolves when the kernel has accepted the bytes or the connection is closed. */
  write(bytes: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.destroyed) return void setImmediate(resolve)
      this.#socket.once('close', () => resolve())
      this.#socket.write(bytes, () => resolve())
    })
  }

  pause(): void {
    this.#socket.pause()
  }

  /** Ends the sending side. Resolves when the server has closed the connection, so it has read everything by then. */
  async end(): Promise<void> {
    this.#socket.end()
    await this.closed()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  async closed(): Promise<void> {
    while (!this.isClosed) await this.#more()
  }

  get receivedBytes(): number {
    return this.#received.byteLength
  }

  /** Returns the next complete response, or undefined if the connection ends before one. */
  async answer(): Promise<RawAnswer | undefined> {
    for (;;) {
      const found = parseAnswer(this.#received)
      if (found !== undefined) {
        this.#received = this.#received.subarray(found.length)
        return found.answer
      }
      if (this.isClosed) return undefined
      await this.#more()
    }
  }

  /** Returns the next bytes as text, up to and including `text`. */
  async until(text: string): Promise<string> {
    while (!this.#received.includes(text) && !this.isClosed) await this.#more()
    const taken = this.#received.toString('latin1')
    this.#received = Buffer.alloc(0)
    return taken
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}

function parseAnswer(bytes: Buffer): { answer: RawAnswer; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [statusLine, ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n')
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const status = Number(statusLine!.split(' ')[1])
  const start = headEnd + 4
  if (headers.get('transfer-encoding') === 'chunked') {
    const body = parseChunked(bytes, start)
    if (body === undefined) return undefined
    return { answer: { status, headers, body: body.text }, length: body.end }
  }
  const length = status === 204 ? 0 : Number(headers.get('content-length') ?? 0)
  if (bytes.byteLength < start + length) return undefined
  const body = bytes.subarray(start, start + length).toString('utf8')
  return { answer: { status, headers, body }, length: start + length }
}

function parseChunked(bytes: Buffer, start: number): { text: string; end: number } | undefined {
  const parts: Buffer[] = []
  let at = start
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16)
    if (Number.isNaN(size)) throw new Error('The answer has a chunk without a size')
    const end = lineEnd + 2 + size
    if (bytes.byteLength < end + 2) return undefined
    if (size === 0) return { text: Buffer.concat(parts).toString('utf8'), end: end + 2 }
    parts.push(bytes.subarray(lineEnd + 2, end))
    at = end + 2
  }
}

export type RawHead = {
  readonly method?: string
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
}

export function headText({ method = 'POST', target, headers = {} }: RawHead): string {
  const lines = Object.entries({ host: 'localhost', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`
}

/** Returns a request with its Content-Length as one text. */
export function requestText(head: RawHead, body: string): string {
  const length = Buffer.byteLength(body).toString()
  return headText({ ...head, headers: { ...head.headers, 'content-length': length } }) + body
}
