import type { Readable } from 'node:stream'
import { Agent } from 'undici'
import { checkedConnector, type Resolve } from './checked-connector.ts'
import { judgeUrl, type UrlRules } from './judge-url.ts'
import { OutboundError, toOutboundError } from './outbound-error.ts'

export type GuardedHttpOptions = Omit<UrlRules, 'isPlainHttpAllowed'> & {
  readonly connectTimeoutMs: number
  /** From the call to the last byte of the answer. */
  readonly timeoutMs: number
  readonly answerBytesMax: number
  readonly resolve?: Resolve
}

/** Like the global `fetch`, for text or no body. Rejects with an OutboundError; so does reading the answer's body. */
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/**
 * The only way out to addresses that somebody gave us: nothing but public servers and what the operator allows is reached,
 * no redirect is followed, nothing is unpacked, and neither time nor bytes are without end.
 */
export class GuardedHttp {
  readonly #options: GuardedHttpOptions
  readonly #agent: Agent

  constructor(options: GuardedHttpOptions) {
    this.#options = options
    this.#agent = new Agent({
      connect: checkedConnector(options.allowed, options.connectTimeoutMs, options.resolve),
      maxResponseSize: options.answerBytesMax,
      maxHeaderSize: headerBytesMax,
    })
  }

  /** `isPlainHttpAllowed`: to hosts in the allow list also without TLS. */
  fetchWith(rules: { readonly isPlainHttpAllowed: boolean }): GuardedFetch {
    return (url, init = {}) => this.#fetch(String(url), init, rules.isPlainHttpAllowed)
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }

  async #fetch(text: string, init: RequestInit, isPlainHttpAllowed: boolean): Promise<Response> {
    const judgement = judgeUrl(text, { ...this.#options, isPlainHttpAllowed })
    if (judgement.kind === 'refused') {
      throw new OutboundError('refused', `The address ${judgement.reason}`)
    }
    const { origin, pathname, search } = judgement.url
    const deadline = AbortSignal.timeout(this.#options.timeoutMs)
    try {
      const answer = await this.#agent.request({
        origin,
        path: pathname + search,
        method: methodOf(init),
        headers: headersOf(init),
        body: bodyOf(init),
        signal: init.signal ? AbortSignal.any([init.signal, deadline]) : deadline,
      })
      return toResponse(answer.statusCode, answer.headers, answer.body)
    } catch (error) {
      // Whoever ends a request knows why.
      if (init.signal?.aborted === true) throw error
      throw toOutboundError(error)
    }
  }
}

const headerBytesMax = 16_384

function methodOf({ method = 'GET' }: RequestInit): 'GET' | 'POST' | 'DELETE' {
  const known = (['GET', 'POST', 'DELETE'] as const).find((each) => each === method.toUpperCase())
  if (known === undefined) throw new TypeError(`${method} is not sent to addresses given to us`)
  return known
}

/** Packed answers are never unpacked, so that none grows beyond its bytes. */
function headersOf({ headers }: RequestInit): Record<string, string> {
  return { ...Object.fromEntries(new Headers(headers)), 'accept-encoding': 'identity' }
}

function bodyOf({ body }: RequestInit): string | null {
  if (body === undefined || body === null || typeof body === 'string') return body ?? null
  throw new TypeError('only text is sent to addresses given to us')
}

const statusesWithoutBody: ReadonlySet<number> = new Set([204, 205, 304])

function toResponse(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: Readable,
): Response {
  const given = new Headers()
  for (const [name, values] of Object.entries(headers)) {
    for (const value of [values ?? []].flat()) given.append(name, value)
  }
  if (!statusesWithoutBody.has(status))
    return new Response(checkedBody(body), { status, headers: given })
  body.resume()
  return new Response(null, { status, headers: given })
}

/** The body's own failures come in our words as well. */
function checkedBody(body: Readable): ReadableStream<Uint8Array> {
  // Ended before its end, the body fails once more when nobody reads it any longer.
  body.on('error', () => undefined)
  const chunks = body[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const next = (await chunks.next()) as IteratorResult<Buffer, undefined>
        if (next.done === true) controller.close()
        else controller.enqueue(new Uint8Array(next.value))
      } catch (error) {
        controller.error(toOutboundError(error))
      }
    },
    cancel: () => {
      body.destroy()
    },
  })
}
