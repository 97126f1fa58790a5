import type { OutboundPost, PostOutcome } from '@tollgate/platform/outbound/post'
import { SecretUnreadableError } from '@tollgate/platform/secrets/secret-errors'
import type { Secrets } from '@tollgate/platform/secrets/open-secrets'
import { signingOrder, type WebhookSecret } from '@tollgate/domain/webhooks/endpoint'
import { webhookRequest } from '@tollgate/domain/webhooks/webhook-request'
import {
  attemptWithoutResponse,
  type AttemptRecord,
  type StartedAttempt,
} from '../domain/attempt-record.ts'
import { isSignatureRefused } from '../domain/judge-attempt.ts'
import { excerptResponse } from '../domain/excerpt-response.ts'
import type { ClaimedDelivery } from '../postgres/claim-deliveries.ts'

/** Sends one request. Never rejects: failures are part of the outcome. */
export type Post = (post: OutboundPost) => Promise<PostOutcome>

export type SendParts = {
  readonly post: Post
  readonly secrets: Pick<Secrets, 'open'>
  readonly now: () => Date
}

export type Sent = {
  /** One attempt, or two if the delivery was sent again with its signatures in reverse order. */
  readonly attempts: readonly [AttemptRecord, ...AttemptRecord[]]
  /** HTTP status of the last attempt; undefined without a response. */
  readonly status: number | undefined
  readonly retryAfter: string | undefined
  readonly hasTimedOut: boolean
  /** Reference of a secret that did not sign first but is the one that the receiver verifies. */
  readonly secretToPromote: string | undefined
}

/** Maximum bytes read of a response; fewer are stored. */
const answerBytesMax = 16_384

/**
 * Sends one delivery. If the receiver refuses the signature while secrets are being rotated, the delivery is sent again at once
 * with the signatures in reverse order, because a receiver may verify only the first signature.
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

type AttemptResult = Pick<Sent, 'status' | 'retryAfter' | 'hasTimedOut'> & {
  readonly record: AttemptRecord
}

async function attempt(
  parts: SendParts,
  delivery: ClaimedDelivery,
  secrets: readonly WebhookSecret[],
  isReversed: boolean,
): Promise<AttemptResult> {
  const startedAt = parts.now()
  const number = delivery.attempts + 1
  const begun = { number, isReversed, startedAt }
  const { reference: deliveryRef, eventId, body, url } = delivery
  if (body === null) return attemptNotSent(begun, 'no-event')
  const texts = openSecrets(parts, delivery, secrets)
  if (texts === undefined) return attemptNotSent(begun, 'unsigned')
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

/**
 * Returns the texts of the secrets, or undefined if there are none or one cannot be decrypted: a request that its receiver cannot
 * verify is not sent.
 */
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

function attemptNotSent(begun: StartedAttempt, errorClass: string): AttemptResult {
  return {
    record: attemptWithoutResponse(begun, errorClass),
    status: undefined,
    retryAfter: undefined,
    hasTimedOut: false,
  }
}

function readOutcome(outcome: PostOutcome): Omit<AttemptResult, 'record'> {
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

function recordOf(outcome: PostOutcome): Omit<AttemptRecord, keyof StartedAttempt> {
  const { trip } = outcome
  const isAnswered = outcome.kind === 'answered'
  return {
    durationMs: Math.round(trip.totalMs),
    connectMs: trip.connectMs === null ? null : Math.round(trip.connectMs),
    answerMs: trip.headersMs === null ? null : Math.round(trip.headersMs),
    status: outcome.status,
    errorClass: isAnswered ? null : outcome.failure,
    answer: isAnswered
      ? excerptResponse(outcome.body, outcome.headers['content-encoding'])
      : outcome.message,
    address: trip.address,
  }
}
