import { Agent, request } from 'node:http'

export type HttpResponse = {
  readonly status: number
  readonly body: unknown
  readonly retryAfterSeconds: number | undefined
}

export type HttpClient = {
  /** Resolves with the answer, whatever its status. Rejects if no complete answer arrived. */
  send(method: string, path: string, body?: unknown, idempotencyKey?: string): Promise<HttpResponse>
  close(): void
}

export type HttpClientOptions = {
  readonly baseUrl: string
  readonly key: string
  readonly connectionsMax: number
  readonly timeoutMs: number
}

/**
 * Tollgate closes connections that were idle for 8 seconds or more. Connections idle for longer than this are not reused, because
 * they may be about to close.
 */
const idleMsMax = 5_000
const responseBytesMax = 16 * 1_048_576

/** Returns a small JSON client over keep-alive connections. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const base = new URL(options.baseUrl)
  const { connectionsMax: maxSockets } = options
  const agent = new Agent({ keepAlive: true, maxSockets, timeout: idleMsMax })
  const authorization = `Bearer ${options.key}`

  function send(
    method: string,
    path: string,
    body?: unknown,
    idempotencyKey?: string,
  ): Promise<HttpResponse> {
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    const headers: Record<string, string | number> = { authorization }
    if (payload) {
      headers['content-type'] = 'application/json'
      headers['content-length'] = payload.length
    }
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { agent, host: base.hostname, port: base.port, method, path, headers },
        (incoming) => {
          const chunks: Buffer[] = []
          let size = 0
          incoming.on('data', (chunk: Buffer) => {
            chunks.push(chunk)
            size += chunk.length
            if (size > responseBytesMax) incoming.destroy(new Error('answer too large'))
          })
          incoming.on('error', reject)
          incoming.on('end', () =>
            resolve({
              status: incoming.statusCode ?? 0,
              body: parseBody(Buffer.concat(chunks)),
              retryAfterSeconds: Number(incoming.headers['retry-after']) || undefined,
            }),
          )
        },
      )
      outgoing.setTimeout(options.timeoutMs, () => {
        outgoing.destroy(new Error(`no answer within ${options.timeoutMs} ms`))
      })
      outgoing.on('error', reject)
      outgoing.end(payload)
    })
  }

  return { send, close: () => agent.destroy() }
}

function parseBody(bytes: Buffer): unknown {
  const text = bytes.toString('utf8')
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
