/**
 * `pending`: sent as soon as it is due. `held`: waits until its endpoint is enabled. `succeeded`: answered with 2xx. `failed`: 12
 * attempts failed, or the event was deleted. `skipped`: never sent, because the endpoint was deleted or the provider chose to skip
 * it.
 */
export type DeliveryState = 'pending' | 'held' | 'succeeded' | 'failed' | 'skipped'

export type WebhookDelivery = {
  /** Grows in the order in which deliveries were created. */
  readonly sequence: bigint
  readonly providerId: string
  readonly reference: string
  readonly endpointRef: string
  readonly eventId: string
  readonly eventType: string
  readonly replayRef: string | null
  readonly state: DeliveryState
  /** Number of attempts with a known outcome. */
  readonly attempts: number
  readonly dueAt: Date
  readonly firstAttemptAt: Date | null
  readonly finishedAt: Date | null
  readonly createdAt: Date
}

export type WebhookAttempt = {
  readonly deliveryRef: string
  /** Number of the attempt, 1 to 12. */
  readonly number: number
  /** A second try made at once, with the signatures in reverse order. */
  readonly isReversed: boolean
  readonly startedAt: Date
  readonly durationMs: number
  readonly connectMs: number | null
  readonly answerMs: number | null
  readonly status: number | null
  /** Why there was no response. */
  readonly errorClass: string | null
  /** Up to 4 KiB of the response body. */
  readonly answer: string | null
  readonly address: string | null
  /** Another process had claimed the delivery, so the outcome changed nothing. */
  readonly isLate: boolean
}
