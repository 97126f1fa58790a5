import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { toOutboundError } from './outbound-error.ts'

/** One request to an address that somebody gave us, whose answer is read while it comes. */
export type OutboundRequest = {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Ends the request, and the reading of its answer. */
  readonly signal: AbortSignal
}

export type OpenedAnswer = {
  readonly status: number
  /** Returns the header's value; the first where it comes more than once. The name is in lower case. */
  readonly header: (name: string) => string | undefined
  /** Must be read to its end or destroyed: it holds the connection. Fails with what `toOutboundError` understands. */
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
    // Ended before its end, the body fails once more when nobody reads it any longer.
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
