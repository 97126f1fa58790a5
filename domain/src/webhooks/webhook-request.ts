import { signWebhook } from './sign-webhook.ts'

export type WebhookRequest = {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/**
 * Returns the request of one attempt. Each attempt has new signatures over the same body. `secretTexts` are in the order in which
 * they sign.
 */
export function webhookRequest(
  delivery: {
    readonly eventId: string
    readonly deliveryRef: string
    /** Number of the attempt, 1 to 12. */
    readonly attempt: number
    readonly body: string
  },
  secretTexts: readonly string[],
  sentAt: Date,
): WebhookRequest {
  const body = Buffer.from(delivery.body)
  return {
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Tollgate/1 (+webhooks)',
      'sv-signature': signWebhook(secretTexts, body, Math.floor(sentAt.getTime() / 1_000)),
      'sv-event-id': delivery.eventId,
      'sv-delivery': delivery.deliveryRef,
      'sv-attempt': String(delivery.attempt),
    },
    body,
  }
}
