import { isPlainObject, type JsonObject } from '@tollgate/schemas/json-object'
import { paywallQuestion, type GatedCall } from '../gate/gate.ts'
import { paramsOf, type Message } from '../protocol/messages.ts'
import { membersOf, rewritten } from '../protocol/raw-json.ts'
import { openRound, sealRound, type RoundOwner } from './request-state.ts'
import type { ServedRequest } from './served-request.ts'

/** A call as the client sent it. */
export type SentCall = {
  readonly served: ServedRequest
  readonly toolName: string
  readonly message: Message
  readonly text: string
}

/** One round of a call: the first one, or a retry with the requested input. */
export type CallRound = {
  readonly paywallAnswered: GatedCall['paywallAnswered']
  /** The message for the origin, without the members that the proxy had added. */
  readonly text: string
}

/** Returns the round of a call, or undefined for a retry whose state does not belong to this call. */
export function readRound(call: SentCall): CallRound | undefined {
  const { served, message, text } = call
  const { requestState, inputResponses, ...others } = paramsOf(message)
  if (served.client.era === 'sessions' || requestState === undefined) {
    return { paywallAnswered: undefined, text }
  }
  if (typeof requestState !== 'string') return undefined
  const { sealer, clock, config } = served.parts
  const owner = ownerOf(call)
  const round = openRound(sealer, owner, requestState, clock.now(), config.stateBytesMax)
  if (round === undefined) return undefined
  const { originState, isPaywall } = round
  const { [paywallQuestion]: answered, ...responses } = isPlainObject(inputResponses)
    ? inputResponses
    : {}
  // If the paywall asked, the origin has asked nothing yet, so it receives the call as the first round.
  const params = {
    ...others,
    ...(!isPaywall && inputResponses !== undefined && { inputResponses: responses }),
    ...(originState !== null && !isPaywall && { requestState: originState }),
  }
  return {
    paywallAnswered: isPaywall ? actionOf(answered) : undefined,
    text: rewritten(text, message, { ...message, params }),
  }
}

/** A retry without an answer counts as declined. */
function actionOf(answered: unknown): NonNullable<GatedCall['paywallAnswered']> {
  const action = isPlainObject(answered) ? answered['action'] : undefined
  return action === 'accept' || action === 'cancel' ? action : 'decline'
}

export type InputRequest =
  | { readonly kind: 'asking'; readonly result: JsonObject }
  /** The state is too large for the client to send it back. */
  | { readonly kind: 'too-large'; readonly reason: string }

/** Seals the state of a question for input, so that the retry is recognized as a round of this call. */
export function askForInput(call: SentCall, result: JsonObject, isPaywall: boolean): InputRequest {
  const { sealer, clock, config } = call.served.parts
  const { stateBytesMax, bodyBytesMax, inputMinutes } = config
  const given = result['requestState']
  const round = { originState: typeof given === 'string' ? given : null, isPaywall }
  const expiresAtMs = clock.now() + inputMinutes * 60_000
  const requestState = sealRound(sealer, ownerOf(call), round, expiresAtMs, stateBytesMax)
  if (requestState === undefined) {
    const reason = `The MCP server asked for input with a state of more than ${stateBytesMax} bytes.`
    return { kind: 'too-large', reason }
  }
  if (bytesWithoutState(call) + requestState.length > bodyBytesMax) {
    const reason = `The call and the state of the MCP server take more than ${bodyBytesMax} bytes together.`
    return { kind: 'too-large', reason }
  }
  return { kind: 'asking', result: { ...result, requestState } }
}

function bytesWithoutState({ message, text }: SentCall): number {
  const { requestState } = paramsOf(message)
  return Buffer.byteLength(text) - (typeof requestState === 'string' ? requestState.length : 0)
}

function ownerOf({ served, toolName, text }: SentCall): RoundOwner {
  const params = membersOf(membersOf(text).get('params')!)
  return {
    server: served.server,
    customerRef: served.customerRef ?? '',
    toolName,
    argumentsText: params.get('arguments') ?? '{}',
  }
}
