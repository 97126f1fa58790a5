import type { Message } from '../protocol/messages.ts'

/** A message with the text from which it was parsed, so that an unchanged message is forwarded with its original text. */
export type Received = { readonly message: Message; readonly text: string }

/** Answer of an MCP server to one POST. */
export type OriginAnswer =
  /** Status 202 or an empty body, as for a notification. */
  | { readonly kind: 'accepted' }
  | { readonly kind: 'message'; readonly received: Received; readonly sessionId?: string }
  | {
      readonly kind: 'stream'
      /** Rejects with an OutboundError if the origin breaks the connection. */
      readonly messages: AsyncGenerator<Received, void>
      readonly sessionId?: string
    }
  /** A 4xx status, with the JSON-RPC error if the body contains one. */
  | { readonly kind: 'refused'; readonly status: number; readonly error: Message | undefined }
  | OriginFailure

export type OriginFailure = {
  readonly kind: 'failed'
  /** A sentence for clients. It contains no text that the origin sent. */
  readonly reason: string
}

export const otherAnswer: OriginFailure = {
  kind: 'failed',
  reason: 'The MCP server answered another request than this one.',
}
