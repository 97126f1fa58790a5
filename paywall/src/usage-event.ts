/** `success` counts towards limits and bills. The other outcomes are stored for analytics only. */
export type Outcome = 'success' | 'fail' | 'paywall'

/** One usage record, in the form that `POST /v1/sdk/usages` accepts. */
export type UsageEvent = {
  readonly customerRef: string
  readonly productRef: string
  readonly actionType: 'api_call'
  readonly units: number
  readonly outcome: Outcome
  /** Duration of the call in milliseconds. */
  readonly duration: number
  readonly metadata: Readonly<Record<string, string>>
  /** End of the call, ISO 8601. */
  readonly timestamp: string
  readonly idempotencyKey: string
  /** Reference of the hold that this record ends. */
  readonly reservationId?: string
}
