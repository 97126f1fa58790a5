import type { Message } from '../protocol/messages.ts'

/** A message with the text that it was parsed from, so that one that is not changed goes on as it came. */
export type Received = { readonly message: Message; readonly text: string }

/** What an MCP server answered to one POST. */
export type OriginAnswer =
  /** It has nothing to say: 202, as to a notification. */
  | { readonly kind: 'accepted' }
  | { readonly kind: 'message'; readonly received: Received; readonly sessionId?: string }
  | {
      readonly kind: 'stream'
      /** Rejects with an OutboundError when the origin breaks off. */
      readonly messages: AsyncGenerator<Received, void>
      readonly sessionId?: string
    }
  /** A status of 4xx, with the JSON-RPC error where the body holds one. */
  | { readonly kind: 'refused'; readonly status: number; readonly error: Message | undefined }
  | OriginFailure

export type OriginFailure = {
  readonly kind: 'failed'
  /** A sentence that clients may see. It repeats nothing that the origin said. */
  readonly reason: string
}

export const otherAnswer: OriginFailure = {
  kind: 'failed',
  reason: 'The MCP server answered another request than this one.',
}
