import {
  attemptsMax,
  nextAttemptAt,
  parseRetryAfter,
  type RetrySchedule,
} from './retry-schedule.ts'

export type AttemptFacts = {
  /** Earlier attempts of the delivery whose outcome is recorded. */
  readonly attemptsBefore: number
  readonly endedAt: Date
  /** HTTP status of the response; undefined without a response. */
  readonly status: number | undefined
  readonly retryAfter: string | undefined
  /** The event is gone or cannot be read, so no attempt can ever be sent. */
  readonly isUnsendable: boolean
}

export type Verdict =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'retry'; readonly dueAt: Date; readonly isGone: boolean }
  /** No attempt remains. */
  | { readonly kind: 'exhausted'; readonly isGone: boolean }

/**
 * Decides what follows an attempt. Only 2xx is a success; redirects are not followed. 410 means that the endpoint is gone for good.
 */
export function judgeAttempt(
  schedule: RetrySchedule,
  { attemptsBefore, endedAt, status, retryAfter, isUnsendable }: AttemptFacts,
  random: number,
): Verdict {
  if (isUnsendable) return { kind: 'exhausted', isGone: false }
  if (status !== undefined && status >= 200 && status < 300) return { kind: 'succeeded' }
  const isGone = status === 410
  const attempts = Math.min(attemptsBefore + 1, attemptsMax(schedule))
  const retryAfterMs = parseRetryAfter(retryAfter, endedAt)
  const dueAt = nextAttemptAt(schedule, attempts, endedAt, retryAfterMs, random)
  return dueAt === undefined ? { kind: 'exhausted', isGone } : { kind: 'retry', dueAt, isGone }
}

/**
 * Returns whether the receiver refused the signature. A receiver that verifies only the first signature does so until its own
 * secret signs first.
 */
export function isSignatureRefused(status: number | undefined): boolean {
  return status === 401 || status === 403
}
