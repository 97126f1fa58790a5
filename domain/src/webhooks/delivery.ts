/**
 * Pending: sent as soon as it is due. Held: until its endpoint is enabled. Succeeded: answered with 2xx. Failed: given up
 * after twelve attempts, or because its event is gone. Skipped: never to be sent, since the endpoint was deleted or its owner
 * did not want it.
 */
export type DeliveryState = 'pending' | 'held' | 'succeeded' | 'failed' | 'skipped'

export type WebhookDelivery = {
  /** Grows in the order in which they were made. */
  readonly sequence: bigint
  readonly providerId: string
  readonly reference: string
  readonly endpointRef: string
  readonly eventId: string
  readonly eventType: string
  readonly replayRef: string | null
  readonly state: DeliveryState
  /** Attempts whose outcome is known. */
  readonly attempts: number
  readonly dueAt: Date
  readonly firstAttemptAt: Date | null
  readonly finishedAt: Date | null
  readonly createdAt: Date
}

export type WebhookAttempt = {
  readonly deliveryRef: string
  /** 1 to 12. */
  readonly number: number
  /** A second try at once, with the signatures in the other order. */
  readonly isReversed: boolean
  readonly startedAt: Date
  readonly durationMs: number
  readonly connectMs: number | null
  readonly answerMs: number | null
  readonly status: number | null
  /** Why there was no answer. */
  readonly errorClass: string | null
  /** Up to 4 KiB of the answer's body. */
  readonly answer: string | null
  readonly address: string | null
  /** Another process had taken the delivery over: the outcome moved nothing. */
  readonly isLate: boolean
}
