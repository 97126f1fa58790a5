export type EndpointStatus = 'enabled' | 'disabled' | 'deleted'

/** `attempts`: twelve of one delivery failed. `gone`: it answered 410. `provider`: its owner did. */
export type DisabledReason = 'attempts' | 'gone' | 'provider'

export type WebhookEndpoint = {
  readonly providerId: string
  readonly reference: string
  readonly url: string
  /** False: its address was set by a caller without `manage`, so session events are sent without their links. */
  readonly sendsLinks: boolean
  /** None: all types, also those that are added later. */
  readonly enabledEvents: readonly string[]
  readonly status: EndpointStatus
  readonly disabledReason: DisabledReason | null
  readonly disabledAt: Date | null
  /** Failed attempts since the last that succeeded, and when the first of them began. */
  readonly failureCount: number
  readonly failingSince: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

export type WebhookSecret = {
  readonly reference: string
  /** As the column holds it. */
  readonly sealed: string
  readonly signsFirst: boolean
  readonly createdAt: Date
  /** Signs no longer from then on; null: does not end. */
  readonly expiresAt: Date | null
}

/** Those that sign at `now`, in the order in which their signatures are sent. */
export function signingOrder<Secret extends Omit<WebhookSecret, 'sealed'>>(
  secrets: readonly Secret[],
  now: Date,
): Secret[] {
  return secrets
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
    .sort(
      (one, other) =>
        Number(other.signsFirst) - Number(one.signsFirst) ||
        other.createdAt.getTime() - one.createdAt.getTime(),
    )
}
