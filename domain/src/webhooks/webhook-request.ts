import { signWebhook } from './sign-webhook.ts'

export type WebhookRequest = {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Signed anew for each attempt, over the same bytes. `secretTexts` are in the order in which they sign. */
export function webhookRequest(
  delivery: {
    readonly eventId: string
    readonly deliveryRef: string
    /** 1 to 12. */
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
