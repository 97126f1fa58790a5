import type { Readable } from 'node:stream'
import type { Caller } from '@tollgate/domain/entitlements/shared-tail'
import type { TraceHeaders } from '@tollgate/platform/observability/tracing'

/*
 * The HTTP listener of the data plane. It has two implementations: uWebSockets.js, which is several times faster, and node:http,
 * for platforms on which the native binary does not load. Code outside this folder does not depend on which one is in use.
 */

export interface HttpFront {
  readonly kind: 'uws' | 'node'
  /**
   * Resolves with the port that is in use, also if `port` is 0. Rejects if the port is taken. If `isShared`, processes that also
   * share it may listen on it, and the system distributes connections among them.
   */
  listen(host: string, port: number, isShared?: boolean): Promise<number>
  /** Stops listening, waits up to `graceMs` for requests in flight, then closes the remaining connections. */
  close(graceMs: number): Promise<void>
}

/** The parts of a request's head that hot routes use. Absent headers are ''. */
export type HotHead = {
  /** `Bearer` and the key, also if the client sent the key as X-API-Key. */
  readonly authorization: string
  readonly contentType: string
  readonly idempotencyKey: string
  /** The request id of the client, or a generated one. */
  readonly requestId: string
  /** The query, without the question mark in front. */
  readonly query: string
  /** The client requests a refusal if names are unknown. */
  readonly isStrict: boolean
  /** The caller's trace. Present only if tracing is on. */
  readonly trace?: TraceHeaders
}

/** A route that this process answers. Its method is POST; the front answers any other with 405. */
export interface HotRoute {
  /**
   * Checks the head alone, synchronously. If it returns a response, the body is discarded as it arrives. It is called only if the
   * body does not arrive together with the head, so `answer` must repeat the checks.
   */
  refuse(head: HotHead): Answer | undefined

  /**
   * `body` is memory of the socket and must be read or copied before the first asynchronous step. `caller` tells long work when the
   * client has disconnected, so that it can stop.
   */
  answer(head: HotHead, body: Buffer, caller?: Caller): Answer | Promise<Answer>
}

/** A complete response with a JSON body. The front adds the request id: as a header, and to the body of an error. */
export type Answer = {
  readonly status: number
  readonly body: string
  /** The body already contains the request id. */
  readonly isComplete?: boolean
  readonly headers?: HeaderList
}

export type HeaderList = readonly (readonly [name: string, value: string])[]

/** Answers every request that is not for a hot route. */
export type Fallback = (request: FallbackRequest) => Promise<FallbackAnswer>

export type FallbackRequest = {
  /** The method as received. */
  readonly method: string
  /** Path and query as received. */
  readonly target: string
  /** Header names are in lower case. */
  readonly headers: HeaderList
  readonly requestId: string
  readonly body: Uint8Array
  readonly remoteAddress: string
  /** Aborted if the client disconnects before the response is complete. */
  readonly signal: AbortSignal
}

export type FallbackAnswer = {
  readonly status: number
  /** Headers without those that frame the message and without the request id, which the front sets itself. */
  readonly headers: HeaderList
  /** The body is undefined if the method or the status forbids one. */
  readonly body: Uint8Array | string | Readable | undefined
  /** The Content-Length that a response to HEAD reports. */
  readonly reportedLength?: number
}

export type BodyLimits = {
  /** A larger body is answered with 413. */
  readonly bodyBytesMax: number
  /**
   * Bytes of a refused body that are read and discarded before the response is sent. Most clients write their whole body before
   * they read, and would report a broken connection instead of the refusal. For a longer body the response is sent immediately and
   * the connection is closed.
   */
  readonly discardedBytesMax: number
  /** Bytes of unfinished bodies over all connections. A body beyond this bound is refused with 503. */
  readonly collectedBytesMax: number
}

export type FrontOptions = {
  readonly limits: BodyLimits
  readonly hotRoutes: ReadonlyMap<string, HotRoute>
  readonly fallback: Fallback
  /**
   * Returns the response to a request that ended in an error. Called once for each such request, so it is also the place to log it.
   */
  readonly answerFailure: (error: unknown, requestId: string) => Answer
  /** Called for each request that was not forwarded and that no hot route answered with 200. */
  readonly onRefused: (status: number) => void
  /** Makes the heads of hot routes include the headers of the caller's trace. */
  readonly readsTraceHeaders: boolean
}

export type CreateHttpFront = (options: FrontOptions) => HttpFront
