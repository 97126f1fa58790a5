import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { toOutboundError } from './outbound-error.ts'

/** A request to a URL that a provider configured, whose response is streamed. */
export type OutboundRequest = {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Aborts the request and the reading of its response. */
  readonly signal: AbortSignal
}

export type OpenedAnswer = {
  readonly status: number
  /** Returns the value of a header, or its first value if it occurs more than once. The name is in lower case. */
  readonly header: (name: string) => string | undefined
  /**
   * The body. It must be read to its end or destroyed, because it occupies the connection. `toOutboundError` converts its errors.
   */
  readonly body: Readable
}

export async function openAnswer(
  dispatcher: Dispatcher,
  url: URL,
  { method, headers, body, signal }: OutboundRequest,
): Promise<OpenedAnswer> {
  try {
    const answer = await dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: { ...headers, 'accept-encoding': 'identity' },
      body: body ?? null,
      signal,
    })
    // A body that is destroyed early emits another error when nothing reads it.
    answer.body.on('error', () => undefined)
    return {
      status: answer.statusCode,
      header: (name) => [answer.headers[name] ?? []].flat()[0],
      body: answer.body,
    }
  } catch (error) {
    if (signal.aborted) throw error
    throw toOutboundError(error)
  }
}
