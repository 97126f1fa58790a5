/**
 * Running: more of it is queued as its time comes. Stopped: its endpoint was deleted.
 */
export type ReplayState = 'running' | 'finished' | 'cancelled' | 'stopped'

/** What was sent to an endpoint, or was to be sent, is sent anew: with other delivery ids, and the same event ids. */
export type WebhookReplay = {
  readonly providerId: string
  readonly reference: string
  readonly endpointRef: string
  /** Of one delivery; null: of all those that were made in that time. */
  readonly deliveryRef: string | null
  /** Only those that were given up and are not sent otherwise. */
  readonly onlyFailed: boolean
  readonly madeFrom: Date | null
  readonly madeBefore: Date
  readonly state: ReplayState
  /** How many deliveries it has made. */
  readonly queued: number
  readonly createdAt: Date
  readonly finishedAt: Date | null
}
