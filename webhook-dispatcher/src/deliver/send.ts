import type { OutboundPost, PostOutcome } from '@tollgate/platform/outbound/post'
import { SecretUnreadableError } from '@tollgate/platform/secrets/secret-errors'
import type { Secrets } from '@tollgate/platform/secrets/open-secrets'
import { signingOrder, type WebhookSecret } from '@tollgate/domain/webhooks/endpoint'
import { webhookRequest } from '@tollgate/domain/webhooks/webhook-request'
import {
  attemptWithoutAnswer,
  type AttemptRecord,
  type BegunAttempt,
} from '../domain/attempt-record.ts'
import { isSignatureRefused } from '../domain/judge-attempt.ts'
import { keptAnswer } from '../domain/kept-answer.ts'
import type { ClaimedDelivery } from '../postgres/claim-deliveries.ts'

/** Never rejects. */
export type Post = (post: OutboundPost) => Promise<PostOutcome>

export type SendParts = {
  readonly post: Post
  readonly secrets: Pick<Secrets, 'open'>
  readonly now: () => Date
}

export type Sent = {
  /** One, or two where the signatures were turned round. */
  readonly attempts: readonly [AttemptRecord, ...AttemptRecord[]]
  /** Of the last of them. */
  readonly status: number | undefined
  readonly retryAfter: string | undefined
  readonly hasTimedOut: boolean
  /** A secret that signed second and that the receiver turned out to use. */
  readonly secretToPromote: string | undefined
}

/** What is read of an answer, of which less is kept. */
const answerBytesMax = 16_384

/**
 * Sends one delivery. A receiver that refuses the signature while secrets are being changed is asked at once again with the
 * signatures in the other order: it may look at the first one alone.
 */
export async function sendDelivery(parts: SendParts, delivery: ClaimedDelivery): Promise<Sent> {
  const secrets = signingOrder(delivery.secrets, parts.now())
  const first = await attempt(parts, delivery, secrets, false)
  const [leading, second, ...others] = secrets
  if (!isSignatureRefused(first.status) || leading === undefined || second === undefined) {
    return { ...first, attempts: [first.record], secretToPromote: undefined }
  }
  const reversed = await attempt(parts, delivery, [second, leading, ...others], true)
  const isAccepted =
    reversed.status !== undefined && reversed.status >= 200 && reversed.status < 300
  return {
    ...reversed,
    attempts: [first.record, reversed.record],
    secretToPromote: isAccepted ? second.reference : undefined,
  }
}

type Tried = Pick<Sent, 'status' | 'retryAfter' | 'hasTimedOut'> & {
  readonly record: AttemptRecord
}

async function attempt(
  parts: SendParts,
  delivery: ClaimedDelivery,
  secrets: readonly WebhookSecret[],
  isReversed: boolean,
): Promise<Tried> {
  const startedAt = parts.now()
  const number = delivery.attempts + 1
  const begun = { number, isReversed, startedAt }
  const { reference: deliveryRef, eventId, body, url } = delivery
  if (body === null) return unsent(begun, 'no-event')
  const texts = openSecrets(parts, delivery, secrets)
  if (texts === undefined) return unsent(begun, 'unsigned')
  const outcome = await parts.post({
    url,
    ...webhookRequest({ eventId, deliveryRef, attempt: number, body }, texts, startedAt),
    answerBytesMax,
  })
  return {
    ...readOutcome(outcome),
    record: { ...begun, ...recordOf(outcome) },
  }
}

/** Undefined where there are none, or one cannot be read: nothing is sent that its receiver cannot trust. */
function openSecrets(
  parts: SendParts,
  { providerId }: ClaimedDelivery,
  secrets: readonly WebhookSecret[],
): string[] | undefined {
  const place = { table: 'webhook_secrets', column: 'secret', owner: providerId } as const
  try {
    return secrets.length === 0
      ? undefined
      : secrets.map(({ sealed }) => parts.secrets.open(sealed, place))
  } catch (error) {
    if (error instanceof SecretUnreadableError) return undefined
    throw error
  }
}

function unsent(begun: BegunAttempt, errorClass: string): Tried {
  return {
    record: attemptWithoutAnswer(begun, errorClass),
    status: undefined,
    retryAfter: undefined,
    hasTimedOut: false,
  }
}

function readOutcome(outcome: PostOutcome): Omit<Tried, 'record'> {
  if (outcome.kind === 'failed') {
    const hasTimedOut = outcome.failure === 'timeout'
    return { status: undefined, retryAfter: undefined, hasTimedOut }
  }
  return {
    status: outcome.status,
    retryAfter: outcome.headers['retry-after'],
    hasTimedOut: false,
  }
}

function recordOf(outcome: PostOutcome): Omit<AttemptRecord, keyof BegunAttempt> {
  const { trip } = outcome
  const isAnswered = outcome.kind === 'answered'
  return {
    durationMs: Math.round(trip.totalMs),
    connectMs: trip.connectMs === null ? null : Math.round(trip.connectMs),
    answerMs: trip.headersMs === null ? null : Math.round(trip.headersMs),
    status: outcome.status,
    errorClass: isAnswered ? null : outcome.failure,
    answer: isAnswered
      ? keptAnswer(outcome.body, outcome.headers['content-encoding'])
      : outcome.message,
    address: trip.address,
  }
}
