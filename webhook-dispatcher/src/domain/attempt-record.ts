/** What is kept of one request, or of why none was sent. */
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

export type BegunAttempt = Pick<AttemptRecord, 'number' | 'isReversed' | 'startedAt'>

/** Nothing was sent, or nothing that a receiver said may be kept. */
export function attemptWithoutAnswer(
  { number, isReversed, startedAt }: BegunAttempt,
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
