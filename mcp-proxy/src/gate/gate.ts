import type { JsonObject } from '@tollgate/schemas/json-object'
import type { ServedServer } from '../servers/served-server.ts'

/** One `tools/call` of a customer who is signed in. */
export type GatedCall = {
  readonly server: ServedServer
  readonly customerRef: string
  readonly toolName: string
  /** The proxy's own, made when the call was accepted. Each round of a call whose server asks for input has another. */
  readonly callId: string
  /** The client's own name for the call, from `_meta`, and a digest of what the MCP server is sent: it stands for no other call. */
  readonly clientKey: { readonly name: string; readonly sentSha256: string } | undefined
  readonly client: ClientAbilities
  /** What the client answered to the question of `input_required` under `paywallQuestion`, in a later round of the call. */
  readonly paywallAnswered?: 'accept' | 'decline' | 'cancel'
}

/** A call of one of the proxy's own tools. */
export type VirtualCall = Pick<GatedCall, 'server' | 'customerRef' | 'toolName' | 'client'> & {
  readonly arguments: JsonObject
}

/** Name of the paywall's question in `inputRequests`, and of its answer in `inputResponses`. */
export const paywallQuestion = 'tollgate-paywall'

/** What the client has said that it can do, in the words of both eras. */
export type ClientAbilities = {
  readonly era: 'sessions' | 'stateless'
  readonly opensUrls: boolean
  readonly showsApps: boolean
}

export type Admission =
  /** Public: neither limited nor counted. */
  | { readonly kind: 'open' }
  | { readonly kind: 'admitted'; readonly settle: Settle }
  /** Refused by plan or limit, and recorded as such: this answers the call. */
  | { readonly kind: 'paywalled'; readonly answer: PaywallAnswer }
  /** It cannot be found out now whether the call may go ahead. */
  | { readonly kind: 'unavailable'; readonly message: string }

export type PaywallAnswer =
  | { readonly kind: 'result'; readonly result: JsonObject }
  | {
      readonly kind: 'error'
      readonly code: number
      readonly message: string
      readonly data: JsonObject
    }
  /** The call is not over: the client is to ask its user, and to call again. */
  | { readonly kind: 'input_required'; readonly result: JsonObject }

/**
 * Called once for each admitted call, whatever becomes of it, before the last byte of the answer is written. It writes the record to the queue on disk and returns: a slow or
 * absent log is not waited for. Never throws.
 */
export type Settle = (end: CallEnd) => void

export type CallEnd = {
  /** `interim`: the result asks for input, and the call goes on in a later round. It is not recorded, and holds nothing meanwhile. */
  readonly outcome: 'success' | 'fail' | 'interim'
  readonly durationMs: number
  /** For the provider's eyes: what was wrong. It repeats nothing that the origin said. */
  readonly reason?: string
  /** The client asked for it to end before it was answered. */
  readonly isCancelled?: boolean
  /** These count for cancelled calls alone. The origin had begun to answer when the client asked for the end. */
  readonly isAccepted?: boolean
  /** The origin's whole result was there by then, and no byte of it had been handed to the client. */
  readonly isAnswered?: boolean
}

export interface Gate {
  /** Before the origin is asked. */
  admit(call: GatedCall): Promise<Admission>
  /** The origin's list with what the proxy adds and changes. */
  adaptTools(
    server: ServedServer,
    client: ClientAbilities,
    tools: readonly JsonObject[],
    isLastPage: boolean,
  ): JsonObject[]
  /** Whether the proxy itself answers for the tool. */
  isVirtual(server: ServedServer, toolName: string): boolean
  callVirtual(call: VirtualCall): Promise<JsonObject>
}
