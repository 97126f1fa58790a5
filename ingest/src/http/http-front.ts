import type { Readable } from 'node:stream'
import type { Caller } from '@tollgate/domain/entitlements/shared-tail'
import type { TraceHeaders } from '@tollgate/platform/observability/tracing'

/*
 * The listener in front of the data plane. Two implementations: uWebSockets.js, which is several times faster, and
 * node:http, for platforms where the native one does not load. Nothing outside this folder can tell which is in use.
 */

export interface HttpFront {
  readonly kind: 'uws' | 'node'
  /** Resolves with the port, which differs from the asked one when that was 0. Rejects when it is taken. */
  listen(host: string, port: number): Promise<number>
  /** Stops listening, lets what is in flight be answered for up to `graceMs`, then cuts what is left. */
  close(graceMs: number): Promise<void>
}

/** The part of a request's head that hot routes decide on; absent headers are ''. */
export type HotHead = {
  /** `Bearer` and the key, also of a client that sends its key as X-API-Key. */
  readonly authorization: string
  readonly contentType: string
  readonly idempotencyKey: string
  /** The client's name for the request, or ours. */
  readonly requestId: string
  /** Without the question mark. */
  readonly query: string
  /** The client wants a refusal where names are unknown. */
  readonly isStrict: boolean
  /** Where the caller is in a trace. Read only where it is asked for. */
  readonly trace?: TraceHeaders
}

/** A route that is answered in this process. Its method is POST; any other is answered 405 by the front. */
export interface HotRoute {
  /**
   * Judges the head alone, at once. What it returns is the answer, and the body is thrown away as it comes. Asked only
   * when the body does not arrive together with the head, so `answer` must not rely on it.
   */
  refuse(head: HotHead): Answer | undefined

  /**
   * `body` is the socket's memory and gone when the call returns: read it before anything asynchronous. Long work stops
   * once the caller is gone.
   */
  answer(head: HotHead, body: Buffer, caller?: Caller): Answer | Promise<Answer>
}

/** A complete answer with a JSON body. The front adds the id of the request: as a header, and to the body of an error. */
export type Answer = {
  readonly status: number
  readonly body: string
  /** The body has the id already. */
  readonly isComplete?: boolean
  readonly headers?: HeaderList
}

export type HeaderList = readonly (readonly [name: string, value: string])[]

/** Answers everything that is not a hot route. */
export type Fallback = (request: FallbackRequest) => Promise<FallbackAnswer>

export type FallbackRequest = {
  /** As it came. */
  readonly method: string
  /** Path and query as they came. */
  readonly target: string
  /** Names in lower case. */
  readonly headers: HeaderList
  readonly requestId: string
  readonly body: Uint8Array
  readonly remoteAddress: string
  /** Aborted when the client goes away before the answer is complete. */
  readonly signal: AbortSignal
}

export type FallbackAnswer = {
  readonly status: number
  /** Without those that frame the message, and without the id of the request: the front sets its own. */
  readonly headers: HeaderList
  /** Undefined when the method or the status forbids a body. */
  readonly body: Uint8Array | string | Readable | undefined
  /** What an answer to HEAD says about the body it leaves out. */
  readonly reportedLength?: number
}

export type BodyLimits = {
  /** A larger body is answered 413. */
  readonly bodyBytesMax: number
  /**
   * How much of a refused body is read and thrown away before the answer. Most clients write their whole body before
   * they read, and would see a broken connection instead of the refusal. Past this the answer is sent at once and the
   * connection closed.
   */
  readonly discardedBytesMax: number
  /** Bytes of unfinished bodies over all connections; what goes beyond is refused with 503. */
  readonly collectedBytesMax: number
}

export type FrontOptions = {
  readonly limits: BodyLimits
  readonly hotRoutes: ReadonlyMap<string, HotRoute>
  readonly fallback: Fallback
  /** What a client is told whose request ended in an error. Called once per such request; also the place to log it. */
  readonly answerFailure: (error: unknown, requestId: string) => Answer
  /** A request was not passed on and not answered 200 by a hot route. */
  readonly onRefused: (status: number) => void
  /** Whether the heads of hot routes tell of the caller's trace. */
  readonly readsTraceHeaders: boolean
}

export type CreateHttpFront = (options: FrontOptions) => HttpFront
