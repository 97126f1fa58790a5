import Stripe from 'stripe'
import type { ProcessorObjectKind } from '../payment-objects.ts'
import type { ProcessorEvent, WebhookVerdict } from '../payment-processor.ts'
import { timeFrom } from './from-stripe.ts'
import type { StripeAccess } from './stripe-settings.ts'

/** Maximum age of a webhook in seconds, so that a recorded one cannot be replayed later. */
const ageSecondsMax = 300

const followedKinds: readonly string[] = [
  'payment_intent',
  'setup_intent',
  'charge',
  'refund',
  'dispute',
  'payout',
] satisfies readonly ProcessorObjectKind[]

export function verifyWebhook(
  { webhookSecrets, isLive }: Pick<StripeAccess, 'webhookSecrets' | 'isLive'>,
  body: Uint8Array,
  signature: string,
  now: Date,
): WebhookVerdict {
  const isSigned = (secondsMax: number): boolean =>
    webhookSecrets.some((secret) => isSignedWith(secret, body, signature, secondsMax, now))
  if (!isSigned(ageSecondsMax)) {
    return isSigned(0)
      ? rejected('too_old', `It was signed more than ${ageSecondsMax} seconds ago.`)
      : rejected('bad_signature', 'None of the secrets made the signature.')
  }
  const event = parseEvent(body)
  if (event === undefined) return rejected('unreadable', 'It is no event about an object.')
  if (event.livemode !== isLive) {
    return rejected('other_environment', `It is of ${event.livemode ? 'live' : 'sandbox'}.`)
  }
  return { verdict: 'genuine', event: eventFrom(event) }
}

type Rejected = Extract<WebhookVerdict, { verdict: 'rejected' }>

function rejected(reason: Rejected['reason'], message: string): WebhookVerdict {
  return { verdict: 'rejected', reason, message }
}

/** Checks the signature. A limit of 0 seconds means no limit. */
function isSignedWith(
  secret: string,
  body: Uint8Array,
  header: string,
  secondsMax: number,
  now: Date,
): boolean {
  try {
    const { signature } = Stripe.webhooks
    return signature!.verifyHeader(body, header, secret, secondsMax, undefined, now.getTime())
  } catch (error) {
    if (error instanceof Stripe.errors.StripeSignatureVerificationError) return false
    throw error
  }
}

export type StripeEvent = {
  readonly id: string
  readonly type: string
  readonly created: number
  readonly livemode: boolean
  readonly account?: string
  /** The object of the event. A balance has no id. */
  readonly data: { readonly object: { readonly id?: string; readonly object: string } }
}

function parseEvent(body: Uint8Array): StripeEvent | undefined {
  try {
    const event = JSON.parse(Buffer.from(body).toString('utf8')) as StripeEvent | null
    const texts = [event?.id, event?.type, event?.data.object.object]
    const isEvent =
      texts.every((text) => typeof text === 'string') &&
      Number.isInteger(event?.created) &&
      typeof event?.livemode === 'boolean'
    return isEvent ? event : undefined
  } catch {
    return undefined
  }
}

/** Converts an event from a webhook or from a list of events. */
export function eventFrom({ id, type, created, account, data }: StripeEvent): ProcessorEvent {
  const { id: objectId, object: kind } = data.object
  const isFollowed = objectId !== undefined && followedKinds.includes(kind)
  return {
    id,
    type,
    objectId: objectId ?? kind,
    objectKind: isFollowed ? (kind as ProcessorObjectKind) : undefined,
    account,
    createdAt: timeFrom(created),
  }
}
