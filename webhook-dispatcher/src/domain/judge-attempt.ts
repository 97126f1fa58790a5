import {
  attemptsMax,
  nextAttemptAt,
  parseRetryAfter,
  type RetrySchedule,
} from './retry-schedule.ts'

export type AttemptFacts = {
  /** Attempts before this one whose outcome is known. */
  readonly attemptsBefore: number
  readonly endedAt: Date
  /** Of the answer; undefined where there was none. */
  readonly status: number | undefined
  readonly retryAfter: string | undefined
  /** There is nothing to send, now or later. */
  readonly isUnsendable: boolean
}

export type Verdict =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'retry'; readonly dueAt: Date; readonly isGone: boolean }
  /** There is no attempt after it. */
  | { readonly kind: 'exhausted'; readonly isGone: boolean }

/** 2xx alone is a success: a redirect is not followed. 410 says that the endpoint will not come back. */
export function judgeAttempt(
  schedule: RetrySchedule,
  { attemptsBefore, endedAt, status, retryAfter, isUnsendable }: AttemptFacts,
  random: number,
): Verdict {
  if (isUnsendable) return { kind: 'exhausted', isGone: false }
  if (status !== undefined && status >= 200 && status < 300) return { kind: 'succeeded' }
  const isGone = status === 410
  const attempts = Math.min(attemptsBefore + 1, attemptsMax(schedule))
  const askedMs = parseRetryAfter(retryAfter, endedAt)
  const dueAt = nextAttemptAt(schedule, attempts, endedAt, askedMs, random)
  return dueAt === undefined ? { kind: 'exhausted', isGone } : { kind: 'retry', dueAt, isGone }
}

/** Receivers that look at the first signature alone refuse until their own secret signs first. */
export function isSignatureRefused(status: number | undefined): boolean {
  return status === 401 || status === 403
}
