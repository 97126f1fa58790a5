/** `success` counts towards limits and bills. The others are stored for analytics. */
export type Outcome = 'success' | 'fail' | 'paywall'

/** One usage record, as `POST /v1/sdk/usages` takes it. */
export type UsageEvent = {
  readonly customerRef: string
  readonly productRef: string
  readonly actionType: 'api_call'
  readonly units: number
  readonly outcome: Outcome
  /** Milliseconds. */
  readonly duration: number
  readonly metadata: Readonly<Record<string, string>>
  /** ISO 8601. */
  readonly timestamp: string
  readonly idempotencyKey: string
  /** The hold that this record ends. */
  readonly reservationId?: string
}
