/** `running`: further deliveries are queued over time. `stopped`: the endpoint was deleted. */
export type ReplayState = 'running' | 'finished' | 'cancelled' | 'stopped'

/** A repetition of an endpoint's deliveries, with new delivery ids and the same event ids. */
export type WebhookReplay = {
  readonly providerId: string
  readonly reference: string
  readonly endpointRef: string
  /** The delivery that is repeated; null for all deliveries created in the time range. */
  readonly deliveryRef: string | null
  /** Whether only failed deliveries are repeated that have no later delivery of the same event. */
  readonly onlyFailed: boolean
  readonly madeFrom: Date | null
  readonly madeBefore: Date
  readonly state: ReplayState
  /** Number of deliveries that the replay has queued. */
  readonly queued: number
  readonly createdAt: Date
  readonly finishedAt: Date | null
}
