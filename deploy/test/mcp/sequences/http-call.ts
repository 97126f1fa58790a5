import { request } from 'node:http'
import type { JsonObject } from '@tollgate/schemas/json-object'

export type HttpCall = {
  readonly port: number
  /** URL of the server, from which Host and path are taken. The request is sent to `port`. */
  readonly url: string
  readonly token: string | undefined
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Aborts the request: the client disconnects. */
  readonly signal?: AbortSignal
}

export type HttpReply =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly sessionId: string | undefined
      /** The JSON body, or the last event of a stream. */
      readonly body: JsonObject
    }
  /** No process listened on the port. */
  | { readonly kind: 'unreached' }
  | { readonly kind: 'broken' }

/** Sends one request on a separate connection. A string body is sent unchanged. */
export function send({
  port,
  url,
  token,
  body,
  headers = {},
  signal,
}: HttpCall): Promise<HttpReply> {
  const { host, pathname } = new URL(url)
  const options = {
    ...{ port, host: '127.0.0.1', method: 'POST', path: pathname, agent: false as const },
    headers: {
      ...{ host, 'content-type': 'application/json' },
      accept: 'application/json, text/event-stream',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(signal !== undefined && { signal }),
  }
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException): void =>
      resolve({ kind: error.code === 'ECONNREFUSED' ? 'unreached' : 'broken' })
    const sent = request(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', fail)
      response.on('end', () => {
        const sessionId = response.headers['mcp-session-id']
        resolve({
          kind: 'answered',
          status: response.statusCode!,
          sessionId: typeof sessionId === 'string' ? sessionId : undefined,
          body: lastMessageIn(Buffer.concat(chunks).toString()),
        })
      })
    })
    sent.on('error', fail)
    sent.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
}

function lastMessageIn(text: string): JsonObject {
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data!)
  const last = events.at(-1) ?? text
  return last === '' ? {} : (JSON.parse(last) as JsonObject)
}
