import type { JsonObject } from '@tollgate/schemas/json-object'
import type { ServedServer } from '../servers/served-server.ts'

/** One `tools/call` of a signed-in customer. */
export type GatedCall = {
  readonly server: ServedServer
  readonly customerRef: string
  readonly toolName: string
  /**
   * Id that the proxy generated when it accepted the call. Each round of a call for which the MCP server asks for input has its own
   * id.
   */
  readonly callId: string
  /**
   * The client's idempotency key from `_meta`, and a digest of what is sent to the MCP server. The digest keeps the same key from
   * matching a different call.
   */
  readonly clientKey: { readonly name: string; readonly sentSha256: string } | undefined
  readonly client: ClientCapabilities
  /** The client's answer to the `paywallQuestion` of `input_required`, in a later round of the call. */
  readonly paywallAnswered?: 'accept' | 'decline' | 'cancel'
}

/** A call of one of the proxy's own tools. */
export type VirtualCall = Pick<GatedCall, 'server' | 'customerRef' | 'toolName' | 'client'> & {
  readonly arguments: JsonObject
}

/** Name of the paywall's question in `inputRequests`, and of its answer in `inputResponses`. */
export const paywallQuestion = 'tollgate-paywall'

/** Capabilities that the client announced, in a session or in a stateless request. */
export type ClientCapabilities = {
  readonly era: 'sessions' | 'stateless'
  readonly opensUrls: boolean
  readonly showsApps: boolean
}

export type Admission =
  /** A public tool: the call is neither limited nor counted. */
  | { readonly kind: 'open' }
  | { readonly kind: 'admitted'; readonly settle: Settle }
  /** Refused because of the plan or the limit, and recorded as refused. `answer` is the response to the call. */
  | { readonly kind: 'paywalled'; readonly answer: PaywallAnswer }
  /** The proxy cannot currently determine whether the call may run. */
  | { readonly kind: 'unavailable'; readonly message: string }

export type PaywallAnswer =
  | { readonly kind: 'result'; readonly result: JsonObject }
  | {
      readonly kind: 'error'
      readonly code: number
      readonly message: string
      readonly data: JsonObject
    }
  /** The call has not ended: the client asks its user for input and then calls again. */
  | { readonly kind: 'input_required'; readonly result: JsonObject }

/**
 * Records the end of an admitted call. Called once for each admitted call, whatever its outcome, before the last byte of the answer
 * is written. It appends the record to the journal on disk and returns without waiting for ingest. Never throws.
 */
export type Settle = (end: CallEnd) => void

export type CallEnd = {
  /**
   * `interim`: the result asks for input, and the call continues in a later round. It is not recorded, and its hold is released.
   */
  readonly outcome: 'success' | 'fail' | 'interim'
  readonly durationMs: number
  /** Reason of a failure, shown to the provider. It contains no text that the origin sent. */
  readonly reason?: string
  /** Whether the client cancelled the call before it was answered. */
  readonly isCancelled?: boolean
  /** Only used for cancelled calls: whether the origin had begun to answer when the client cancelled. */
  readonly isAccepted?: boolean
  /**
   * Only used for cancelled calls: whether the origin's whole result had arrived, and no byte of it had been sent to the client.
   */
  readonly isAnswered?: boolean
}

export interface Gate {
  /** Decides whether a call may run. Call it before the request is sent to the origin. */
  admit(call: GatedCall): Promise<Admission>
  /** Returns the origin's list of tools with the proxy's additions and changes. */
  adaptTools(
    server: ServedServer,
    client: ClientCapabilities,
    tools: readonly JsonObject[],
    isLastPage: boolean,
  ): JsonObject[]
  /** Returns whether the proxy itself answers calls of the tool. */
  isVirtual(server: ServedServer, toolName: string): boolean
  callVirtual(call: VirtualCall): Promise<JsonObject>
}
