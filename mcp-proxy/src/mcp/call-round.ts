import { isPlainObject } from '@tollgate/schemas/json-object'
import { paywallQuestion, type GatedCall } from '../gate/gate.ts'
import { textOf } from '../http/reply.ts'
import { paramsOf, type Message } from '../protocol/messages.ts'
import { openRound, type RoundOwner } from './request-state.ts'
import type { ServedRequest } from './served-request.ts'

/** One round of a call: the first, or a retry with the input that was asked for. */
export type CallRound = {
  readonly paywallAnswered: GatedCall['paywallAnswered']
  /** The message for the origin, without the parts that the proxy had added. */
  readonly text: string
}

/** Returns undefined for a retry whose state is not one of this call. */
export function readRound(
  { client, parts }: ServedRequest,
  owner: RoundOwner,
  message: Message,
  text: string,
): CallRound | undefined {
  const { requestState, inputResponses, ...others } = paramsOf(message)
  if (client.era === 'sessions' || requestState === undefined) {
    return { paywallAnswered: undefined, text }
  }
  if (typeof requestState !== 'string') return undefined
  const { sealer, clock } = parts
  const round = openRound(sealer, owner, requestState, clock.now())
  if (round === undefined) return undefined
  const { originState, isPaywall } = round
  const { [paywallQuestion]: answered, ...responses } = isPlainObject(inputResponses)
    ? inputResponses
    : {}
  // The origin asked nothing where the paywall did, and sees the call as if it were the first round.
  const params = {
    ...others,
    ...(!isPaywall && inputResponses !== undefined && { inputResponses: responses }),
    ...(originState !== null && !isPaywall && { requestState: originState }),
  }
  return {
    paywallAnswered: isPaywall ? actionOf(answered) : undefined,
    text: textOf({ ...message, params }),
  }
}

/** A client that comes back without an answer has declined. */
function actionOf(answered: unknown): NonNullable<GatedCall['paywallAnswered']> {
  const action = isPlainObject(answered) ? answered['action'] : undefined
  return action === 'accept' || action === 'cancel' ? action : 'decline'
}
