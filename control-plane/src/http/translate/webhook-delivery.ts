import { redacted, isSessionEvent } from '@tollgate/domain/outbox/redact-session'
import type { WebhookAttempt, WebhookDelivery } from '@tollgate/domain/webhooks/delivery'
import type { WebhookReplay } from '@tollgate/domain/webhooks/replay'
import type {
  WebhookAttemptBody,
  WebhookDeliveryBody,
  WebhookDeliverySummaryBody,
  WebhookReplayBody,
} from '@tollgate/schemas/http/webhook-deliveries'
import { definedFields } from '../../domain/defined-fields.ts'

/** Converts a delivery without the bodies of responses, which may be long. */
export function deliverySummaryToHttp(
  delivery: WebhookDelivery,
  attempts: readonly WebhookAttempt[],
): WebhookDeliverySummaryBody {
  return { ...fieldsOf(delivery), attempts: attempts.map(attemptSummaryToHttp) }
}

/**
 * Converts a delivery with the bodies of responses. A receiver may echo the event, so callers without `mayManage` get a redacted
 * response if the event contains a link of a customer.
 */
export function deliveryToHttp(
  delivery: WebhookDelivery,
  attempts: readonly WebhookAttempt[],
  { mayManage }: { readonly mayManage: boolean },
): WebhookDeliveryBody {
  const isRedacted = !mayManage && isSessionEvent(delivery.eventType)
  return {
    ...fieldsOf(delivery),
    attempts: attempts.map((attempt) => ({
      ...attemptSummaryToHttp(attempt),
      ...definedFields({
        answer: attempt.answer !== null && isRedacted ? redacted : attempt.answer,
      }),
    })),
  }
}

function fieldsOf(delivery: WebhookDelivery): Omit<WebhookDeliveryBody, 'attempts'> {
  const { state, dueAt, replayRef, finishedAt } = delivery
  return {
    id: delivery.reference,
    endpointId: delivery.endpointRef,
    eventId: delivery.eventId,
    type: delivery.eventType,
    state,
    createdAt: delivery.createdAt.toISOString(),
    ...definedFields({
      dueAt: state === 'pending' ? dueAt.toISOString() : undefined,
      replayId: replayRef,
      finishedAt: finishedAt?.toISOString(),
    }),
  }
}

export function attemptSummaryToHttp(attempt: WebhookAttempt): WebhookAttemptBody {
  const { connectMs, answerMs, status, errorClass, address } = attempt
  return {
    number: attempt.number,
    isReversed: attempt.isReversed,
    startedAt: attempt.startedAt.toISOString(),
    durationMs: attempt.durationMs,
    ...definedFields({ connectMs, answerMs, status, error: errorClass, address }),
  }
}

export function replayToHttp(replay: WebhookReplay): WebhookReplayBody {
  const { deliveryRef, madeFrom, finishedAt } = replay
  return {
    id: replay.reference,
    endpointId: replay.endpointRef,
    onlyFailed: replay.onlyFailed,
    to: replay.madeBefore.toISOString(),
    state: replay.state,
    queued: replay.queued,
    createdAt: replay.createdAt.toISOString(),
    ...definedFields({
      deliveryId: deliveryRef,
      from: madeFrom?.toISOString(),
      finishedAt: finishedAt?.toISOString(),
    }),
  }
}
