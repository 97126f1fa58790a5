export type EndpointStatus = 'enabled' | 'disabled' | 'deleted'

/** `attempts`: all 12 attempts of one delivery failed. `gone`: the receiver answered 410. `provider`: the provider disabled it. */
export type DisabledReason = 'attempts' | 'gone' | 'provider'

export type WebhookEndpoint = {
  readonly providerId: string
  readonly reference: string
  readonly url: string
  /** False if a caller without `manage` set the address, so session events are sent without their links. */
  readonly sendsLinks: boolean
  /** Event types that the endpoint receives. Empty for all types, including those added later. */
  readonly enabledEvents: readonly string[]
  readonly status: EndpointStatus
  readonly disabledReason: DisabledReason | null
  readonly disabledAt: Date | null
  /** Number of failed attempts since the last success, and when the first of them began. */
  readonly failureCount: number
  readonly failingSince: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

export type WebhookSecret = {
  readonly reference: string
  /** The sealed secret as stored in the column. */
  readonly sealed: string
  readonly signsFirst: boolean
  readonly createdAt: Date
  /** The secret stops signing at this time; null for no end. */
  readonly expiresAt: Date | null
}

/** Returns the secrets that sign at `now`, in the order in which their signatures are sent. */
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
