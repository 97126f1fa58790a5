/** One stored attempt: a request that was sent, or the reason why none was sent. Durations are in milliseconds. */
export type AttemptRecord = {
  readonly number: number
  readonly isReversed: boolean
  readonly startedAt: Date
  readonly durationMs: number
  readonly connectMs: number | null
  readonly answerMs: number | null
  readonly status: number | null
  readonly errorClass: string | null
  readonly answer: string | null
  readonly address: string | null
}

export type StartedAttempt = Pick<AttemptRecord, 'number' | 'isReversed' | 'startedAt'>

/** Returns the record of an attempt that was not sent, or whose response must not be stored. */
export function attemptWithoutResponse(
  { number, isReversed, startedAt }: StartedAttempt,
  errorClass: string,
): AttemptRecord {
  return {
    number,
    isReversed,
    startedAt,
    durationMs: 0,
    connectMs: null,
    answerMs: null,
    status: null,
    errorClass,
    answer: null,
    address: null,
  }
}
